// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Frames of operations that this rank has not submitted yet, or whose stage has not begun.
/// Bounded. Confined to the lane's thread.
final class EarlyFrames {

  /// Operations in flight times an eager chunk, with room to spare.
  private static final long LIMIT_BYTES = 256L << 20;

  record EarlyFrame(int worldRank, long communicator, byte[] bytes) {}

  private final LongMap<List<EarlyFrame>> byOperation = new LongMap<>();
  private long bytes;

  /// Whether there was room.
  boolean keep(long operation, int worldRank, MemorySegment frame) {
    if (bytes + frame.byteSize() > LIMIT_BYTES) {
      return false;
    }
    List<EarlyFrame> frames = byOperation.get(operation);
    if (frames == null) {
      frames = new ArrayList<>(2);
      byOperation.put(operation, frames);
    }
    frames.add(
        new EarlyFrame(worldRank, Frame.communicator(frame), frame.toArray(ValueLayout.JAVA_BYTE)));
    bytes += frame.byteSize();
    return true;
  }

  /// Throws away what came for a communicator.
  void forget(long communicator) {
    byOperation.removeIf(
        frames -> {
          if (frames.getFirst().communicator() != communicator) {
            return false;
          }
          frames.forEach(f -> bytes -= f.bytes().length);
          return true;
        });
  }

  @Nullable List<EarlyFrame> take(long operation) {
    List<EarlyFrame> frames = byOperation.remove(operation);
    if (frames != null) {
      frames.forEach(f -> bytes -= f.bytes().length);
    }
    return frames;
  }

  /// Drops what a rank sent.
  void forgetRank(int worldRank) {
    byOperation.removeIf(
        frames -> {
          frames.removeIf(
              frame -> {
                boolean its = frame.worldRank() == worldRank;
                bytes -= its ? frame.bytes().length : 0;
                return its;
              });
          return frames.isEmpty();
        });
  }

  int operations() {
    return byOperation.size();
  }
}
