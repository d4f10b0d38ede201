// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.frame.CollectiveFrame;
import io.weft.transport.table.LongMap;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Frames of operations that this rank has not submitted yet, or whose stage has not begun. Their
/// memory is bounded: if it exceeds the limit, the rank that sent most of it is dropped. Confined
/// to the progress thread.
final class EarlyFrames {

  /// Room for the operations in flight with an eager chunk each, and a reserve.
  private static final long MOST_BYTES = 256L << 20;

  /// The divisor of the heap's size. Most of the heap belongs to the users.
  private static final int HEAP_SHARE = 8;

  /// The approximate cost of a frame besides its bytes: arrays, records and map entries.
  private static final int OVERHEAD_BYTES = 160;

  record EarlyFrame(int worldRank, long communicator, byte[] bytes) {

    long cost() {
      return (long) bytes.length + OVERHEAD_BYTES;
    }
  }

  private final long limitBytes;
  private final LongMap<List<EarlyFrame>> byOperation = new LongMap<>();
  private long[] byRank = {};
  private long bytes;

  /// Creates the store with a limit that suits this process's heap.
  EarlyFrames() {
    this(Runtime.getRuntime().maxMemory());
  }

  /// Creates the store with a limit that suits a heap of at most this many bytes.
  EarlyFrames(long heapBytes) {
    this.limitBytes = Math.min(MOST_BYTES, heapBytes / HEAP_SHARE);
  }

  /// Keeps a frame, even beyond the limit.
  void keep(long operation, int worldRank, MemorySegment frame) {
    List<EarlyFrame> frames = byOperation.get(operation);
    if (frames == null) {
      frames = new ArrayList<>(2);
      byOperation.put(operation, frames);
    }
    var kept =
        new EarlyFrame(
            worldRank, CollectiveFrame.communicator(frame), frame.toArray(ValueLayout.JAVA_BYTE));
    frames.add(kept);
    if (worldRank >= byRank.length) {
      byRank = java.util.Arrays.copyOf(byRank, Math.max(worldRank + 1, 2 * byRank.length));
    }
    byRank[worldRank] += kept.cost();
    bytes += kept.cost();
  }

  boolean isOverfull() {
    return bytes > limitBytes;
  }

  /// Returns the rank whose frames take most memory.
  int mostBy() {
    int most = 0;
    for (int rank = 1; rank < byRank.length; rank++) {
      most = byRank[rank] > byRank[most] ? rank : most;
    }
    return most;
  }

  void forget(long communicator) {
    byOperation.removeIf(
        frames -> {
          if (frames.getFirst().communicator() != communicator) {
            return false;
          }
          frames.forEach(this::forgotten);
          return true;
        });
  }

  void forgetRank(int worldRank) {
    byOperation.removeIf(
        frames -> {
          frames.removeIf(
              frame -> {
                boolean its = frame.worldRank() == worldRank;
                if (its) {
                  forgotten(frame);
                }
                return its;
              });
          return frames.isEmpty();
        });
  }

  @Nullable List<EarlyFrame> take(long operation) {
    List<EarlyFrame> frames = byOperation.remove(operation);
    if (frames != null) {
      frames.forEach(this::forgotten);
    }
    return frames;
  }

  private void forgotten(EarlyFrame frame) {
    byRank[frame.worldRank()] -= frame.cost();
    bytes -= frame.cost();
  }

  int operations() {
    return byOperation.size();
  }
}
