// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.collective.Plan.Receiving;
import io.weft.collective.Plan.Sending;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.Reducer;
import io.weft.transport.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The memory of one exchange: what lies where, its registrations, and the combining of what
/// arrives. Confined to the lane's thread.
final class ExchangeMemory {

  private final Stage stage;
  private final Placement place;
  private final Wires wires;
  private @Nullable MemoryRegion source;
  private @Nullable MemoryRegion target;

  ExchangeMemory(Stage stage, Wires wires) {
    this.stage = stage;
    this.place = stage.placement();
    this.wires = wires;
  }

  /// Copies the chunks that no peer sends us from contribution to result.
  void copyUntouched() {
    if (place.inPlace()) {
      return;
    }
    boolean[] received = new boolean[stage.plan().chunks()];
    stage.plan().receives().forEach(r -> received[r.chunk()] = true);
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

  /// Puts or combines an arrived segment into the result. The first one to be combined into a chunk
  /// finds our contribution there, which is copied just before, while it is in the cache.
  ///
  /// Hot path.
  void combine(Receiving receiving, int segment, MemorySegment from, long fromOffset, long bytes) {
    int chunk = receiving.chunk();
    long within = segment * wires.segmentBytes();
    long at = place.targetOffset()[chunk] + within;
    if (!receiving.reduce()) {
      MemorySegment.copy(from, fromOffset, place.target(), at, bytes);
      return;
    }
    if (receiving.needs() < 0 && !place.inPlace()) {
      long ours = place.sourceOffset()[chunk] + within;
      MemorySegment.copy(place.source(), ours, place.target(), at, bytes);
    }
    Reducer reducer = Objects.requireNonNull(stage.reducer());
    long elements = bytes / stage.dtype().bytes();
    reducer.reduce(place.target(), at, from, fromOffset, elements);
    if (receiving.last() && stage.divisor() > 1) {
      Kernels.divide(stage.dtype(), place.target(), at, elements, stage.divisor());
    }
  }

  /// What a send reads: our contribution until the chunk has been received here, then the result.
  MemorySegment of(Sending sending) {
    return sending.needs() < 0 ? place.source() : place.target();
  }

  long offsetOf(Sending sending, int segment) {
    long[] offsets = sending.needs() < 0 ? place.sourceOffset() : place.targetOffset();
    return offsets[sending.chunk()] + segment * wires.segmentBytes();
  }

  MemoryRegion regionOf(Sending sending) {
    return sending.needs() < 0 && !place.inPlace() ? sourceRegion() : targetRegion();
  }

  MemoryRegion targetRegion() {
    MemoryRegion region = target;
    if (region == null) {
      region = wires.register(place.target(), this);
      target = region;
    }
    return region;
  }

  private MemoryRegion sourceRegion() {
    MemoryRegion region = source;
    if (region == null) {
      region = wires.register(place.source(), this);
      source = region;
    }
    return region;
  }

  /// Whether the chunk travels inside a message.
  boolean eager(int chunk) {
    return place.bytes()[chunk] <= wires.eagerBytes();
  }

  int segments(int chunk) {
    return wires.segments(place.bytes()[chunk]);
  }

  /// Bytes of one segment of a chunk.
  long bytes(int chunk, int segment) {
    return wires.segmentBytes(place.bytes()[chunk], segment);
  }

  /// Ends the registrations.
  void release() {
    if (source != null) {
      source.close();
    }
    if (target != null) {
      target.close();
    }
    source = null;
    target = null;
  }
}
