// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.wire;

import io.weft.collective.choice.Segments;
import io.weft.collective.exchange.AdditionTree;
import io.weft.collective.exchange.BufferLayout;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.plan.RankSchedule.Receiving;
import io.weft.collective.plan.RankSchedule.Run;
import io.weft.collective.plan.RankSchedule.Sending;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.ReduceKernel;
import io.weft.transport.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The memory of one exchange: its layout, its registrations, and the combination of arriving
/// segments. Confined to the progress thread.
final class WireBuffers {

  private final WireStage stage;
  private final BufferLayout place;
  private final CollectiveContext context;
  private final Segments segments;
  private final long longestEager;
  private @Nullable MemoryRegion source;
  private @Nullable MemoryRegion target;

  WireBuffers(WireStage stage, CollectiveContext context, Segments segments, int eagerBytes) {
    this.stage = stage;
    this.place = stage.layout();
    this.context = context;
    this.segments = segments;
    this.longestEager = Math.min(eagerBytes, segments.bytes());
  }

  Segments segments() {
    return segments;
  }

  /// Copies the chunks that no peer sends from contribution to result.
  void copyUntouched() {
    if (place.inPlace()) {
      return;
    }
    boolean[] received = new boolean[stage.schedule().chunks()];
    stage.schedule().receives().forEach(r -> Arrays.fill(received, r.chunk(), end(r), true));
    for (int c = 0; c < received.length; c++) {
      if (!received[c] && place.sourceOffset()[c] >= 0 && place.targetOffset()[c] >= 0) {
        MemorySegment.copy(
            place.source(),
            place.sourceOffset()[c],
            place.target(),
            place.targetOffset()[c],
            place.bytes()[c]);
      }
    }
  }

  private static int end(Run run) {
    return run.chunk() + run.chunks();
  }

  /// Copies or combines an arrived segment into the result. The first segment for a place is
  /// combined with this rank's contribution in the source.
  ///
  /// Hot path.
  void combine(Receiving receiving, int segment, MemorySegment from, long fromOffset, long bytes) {
    int chunk = receiving.chunk();
    long within = segments.offset(segment);
    long at = place.targetOffset()[chunk] + within;
    if (!receiving.reduce()) {
      MemorySegment.copy(from, fromOffset, place.target(), at, bytes);
      return;
    }
    ReduceKernel reducer = Objects.requireNonNull(stage.reducer());
    long elements = bytes / stage.dtype().bytes();
    boolean here = receiving.again() || place.inPlace();
    MemorySegment left = here ? place.target() : place.source();
    long leftOffset = here ? at : place.sourceOffset()[chunk] + within;
    reducer.combine(place.target(), at, left, leftOffset, from, fromOffset, elements);
    if (receiving.last() && stage.divisor() > 1) {
      Kernels.divide(stage.dtype(), place.target(), at, elements, stage.divisor());
    }
  }

  /// Combines an arrived segment of each of several peers with this rank's segment, in one tree.
  ///
  /// Hot path.
  ///
  /// @param receiving the last one of the receives
  /// @param leaves memory of each leaf; this rank's is set here
  /// @param at start of each leaf; this rank's is set here
  /// @param own index of this rank's leaf
  void combineAll(Receiving receiving, int segment, MemorySegment[] leaves, long[] at, int own) {
    int chunk = receiving.chunk();
    long within = segments.offset(segment);
    long into = place.targetOffset()[chunk] + within;
    boolean here = receiving.again() || place.inPlace();
    leaves[own] = here ? place.target() : place.source();
    at[own] = here ? into : place.sourceOffset()[chunk] + within;
    long bytes = bytes(receiving, segment);
    int elementBytes = stage.dtype().bytes();
    ReduceKernel reducer = Objects.requireNonNull(stage.reducer());
    AdditionTree sums = context.sums();
    long most = sums.longest(leaves.length);
    long length;
    for (long from = 0; from < bytes; from += length) {
      length = Math.min(most, bytes - from);
      long elements = length / elementBytes;
      sums.combine(place.target(), into + from, leaves, at, from, elements, reducer);
      if (receiving.last() && stage.divisor() > 1) {
        Kernels.divide(stage.dtype(), place.target(), into + from, elements, stage.divisor());
      }
    }
  }

  /// Returns the memory that a send reads: the contribution until this rank has received its
  /// chunks, then the result.
  MemorySegment of(Sending sending) {
    return sending.received() ? place.target() : place.source();
  }

  long offsetOf(Sending sending, int segment) {
    long[] offsets = sending.received() ? place.targetOffset() : place.sourceOffset();
    return offsets[sending.chunk()] + segments.offset(segment);
  }

  MemoryRegion regionOf(Sending sending) {
    return sending.received() || place.inPlace() ? targetRegion() : sourceRegion();
  }

  MemoryRegion targetRegion() {
    MemoryRegion region = target;
    if (region == null) {
      region = context.register(place.target(), this);
      target = region;
    }
    return region;
  }

  private MemoryRegion sourceRegion() {
    MemoryRegion region = source;
    if (region == null) {
      region = context.register(place.source(), this);
      source = region;
    }
    return region;
  }

  /// Returns the length of a run. The chunks of a run are adjacent.
  long bytes(Run run) {
    int last = end(run) - 1;
    return place.bytes()[last]
        + (run.chunks() == 1 ? 0 : place.targetOffset()[last] - place.targetOffset()[run.chunk()]);
  }

  /// Returns whether the run is sent inside a message.
  boolean eager(Run run) {
    return bytes(run) <= longestEager;
  }

  int segments(Run run) {
    return segments.count(bytes(run));
  }

  long bytes(Run run, int segment) {
    return segments.bytes(bytes(run), segment);
  }

  /// Returns whether this segment of `run` must wait until more of `other` has moved: the runs have
  /// chunks in common, and not all of those in the segment are among the first `moved` bytes of
  /// `other`. A completed run has moved `Long.MAX_VALUE`.
  ///
  /// Hot path.
  boolean waits(Run run, int segment, Run other, long moved) {
    if (moved == Long.MAX_VALUE) {
      return false;
    }
    long begin = place.targetOffset()[run.chunk()] + segments.offset(segment);
    long end = begin + bytes(run, segment);
    long from = place.targetOffset()[other.chunk()];
    long until = from + bytes(other);
    boolean apart = begin < end && from < until && (end <= from || begin >= until);
    return !apart && moved < Math.max(1, Math.min(end, until) - from);
  }

  /// Ends the registrations of memory that no peer accesses any more.
  void release() {
    if (source != null) {
      source.release();
    }
    if (target != null) {
      target.release();
    }
    source = null;
    target = null;
  }

  /// Withdraws the permission of peers to write. Returns whether a peer may still access the
  /// memory; the caller must then call this again.
  boolean withdraw() {
    MemoryRegion written = target;
    if (written == null) {
      return false;
    }
    written.close();
    return written.isVisited();
  }
}
