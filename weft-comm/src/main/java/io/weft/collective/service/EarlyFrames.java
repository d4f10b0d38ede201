// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.group.LongMap;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Frames of operations that this rank has not submitted yet, or whose stage has not begun.
/// Bounded: where they take too much, whoever sent most of them has to go. Confined to the progress
/// thread.
final class EarlyFrames {

  /// Operations in flight times an eager chunk, with room to spare.
  private static final long MOST_BYTES = 256L << 20;

  /// Of the heap, which is the users' own for the greater part.
  private static final int HEAP_SHARE = 8;

  /// What a frame takes beside its bytes, about: its arrays and records, its place in the maps.
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

  /// With a limit that suits this process's heap.
  EarlyFrames() {
    this(Runtime.getRuntime().maxMemory());
  }

  /// With a limit that suits a heap of at most so many bytes.
  EarlyFrames(long heapBytes) {
    this.limitBytes = Math.min(MOST_BYTES, heapBytes / HEAP_SHARE);
  }

  /// Keeps a frame, over the limit too.
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

  /// Whether they take more than they may.
  boolean isOverfull() {
    return bytes > limitBytes;
  }

  /// The rank whose frames take most.
  int mostBy() {
    int most = 0;
    for (int rank = 1; rank < byRank.length; rank++) {
      most = byRank[rank] > byRank[most] ? rank : most;
    }
    return most;
  }

  /// Throws away what came for a communicator.
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

  /// Throws away what a rank sent.
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
