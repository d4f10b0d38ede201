// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.dataparallel.CollectiveRequest.Allgather;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The exchange of the largest elements of each rank's gradient plus residual, by one allgather.
/// Each rank sends indices (INT32, ascending), then values. Every rank adds the elements up in rank
/// order. Sent elements leave the rank's residual. Of equal magnitudes the lower index is chosen.
final class TopKExchange extends FeedbackExchange {

  /// The bytes of a sent element: its index and its value.
  static final int BYTES = Integer.BYTES + Float.BYTES;

  private final int elements;
  private final int sent;
  private final ExchangeHeader header;
  private final TensorView outgoing;
  private final MemorySegment sum;
  private final Largest largest = new Largest();

  /// Throws `IllegalArgumentException` for a tensor whose indices exceed INT32.
  TopKExchange(Reducer reducer, Worker worker, CompressedGradient gradient, double ratio) {
    long elements = gradient.elements();
    if (elements > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "gradient '%s' has %d elements; of at most %d the largest can be sent: cut it in two"
              .formatted(gradient.name(), elements, Integer.MAX_VALUE));
    }
    super(reducer, worker, gradient);
    this.elements = (int) elements;
    this.sent = (int) sent(elements, ratio);
    this.header = new ExchangeHeader(gradient, sent, BYTES * Byte.SIZE, reducer.members());
    Arena arena = Arena.ofAuto();
    this.outgoing = bytes(arena, length());
    this.sum = arena.allocate(elements * Float.BYTES, 64);
  }

  /// Returns the number of sent elements.
  static long sent(long elements, double ratio) {
    return elements == 0 ? 0 : Math.clamp(Math.round(ratio * elements), 1, elements);
  }

  private long length() {
    return ExchangeHeader.BYTES + (long) sent * BYTES;
  }

  @Override
  String words() {
    return "the mean of the largest elements";
  }

  @Override
  void begin(TensorView gradient, Running running) {
    long bad = add(gradient.data());
    float value = bad < 0 ? 0 : whole(gradient.data(), bad);
    header.write(outgoing.data(), 0, reducer.rank(), bad, value);
    if (bad < 0) {
      select();
    }
    then(
        reducer.submit(Allgather.of(name + "/largest", outgoing)),
        running,
        all -> arrived(all, running));
  }

  /// Adds the residual to the gradient. Returns the place of the first sum that is not finite, or
  /// -1.
  ///
  /// Hot path.
  private long add(MemorySegment gradient) {
    MemorySegment kept = residual.kept();
    MemorySegment next = residual.next();
    for (long i = 0; i < elements; i++) {
      float value =
          gradient.getAtIndex(JAVA_FLOAT_UNALIGNED, i) + kept.getAtIndex(JAVA_FLOAT_UNALIGNED, i);
      if (!Float.isFinite(value)) {
        return i;
      }
      next.setAtIndex(JAVA_FLOAT_UNALIGNED, i, value);
    }
    return -1;
  }

  /// Moves the largest elements from the next residual to the outgoing data.
  ///
  /// Hot path.
  private void select() {
    if (sent == 0) {
      return;
    }
    MemorySegment next = residual.next();
    MemorySegment data = outgoing.data();
    int threshold = largest.threshold(next, elements, sent);
    int ties = largest.atThreshold();
    long index = ExchangeHeader.BYTES;
    long value = index + (long) sent * Integer.BYTES;
    for (int i = 0; i < elements; i++) {
      int bits = Largest.bits(next, i);
      if (bits > threshold || (bits == threshold && ties-- > 0)) {
        data.set(JAVA_INT_UNALIGNED, index, i);
        data.set(JAVA_FLOAT_UNALIGNED, value, next.getAtIndex(JAVA_FLOAT_UNALIGNED, i));
        next.setAtIndex(JAVA_FLOAT_UNALIGNED, i, 0);
        index += Integer.BYTES;
        value += Float.BYTES;
      }
    }
  }

  private void arrived(TensorLease all, Running running) {
    try (all) {
      addUp(all.view().data(), running.average().data());
    }
    succeed(running);
  }

  /// Adds up the elements of all ranks. Joined ranks send nothing and count as zeros.
  ///
  /// Hot path.
  private void addUp(MemorySegment parts, MemorySegment average) {
    long length = length();
    int next = 0;
    for (long at = 0; at < parts.byteSize(); at += length) {
      long left = parts.byteSize() - at;
      int rank = header.sender(parts, at, left, Math.min(next, reducer.size() - 1));
      boolean last = rank == reducer.size() - 1;
      header.requireSame(parts, at, last ? left : Math.min(left, length), length, rank);
      next = rank + 1;
    }
    for (long at = 0; at < parts.byteSize(); at += length) {
      header.requireNumbers(parts, at, header.sender(parts, at, length, 0), "");
    }
    sum.fill((byte) 0);
    for (long at = 0; at < parts.byteSize(); at += length) {
      long index = at + ExchangeHeader.BYTES;
      long value = index + (long) sent * Integer.BYTES;
      for (int i = 0; i < sent; i++) {
        int place = parts.get(JAVA_INT_UNALIGNED, index + (long) i * Integer.BYTES);
        float added = parts.get(JAVA_FLOAT_UNALIGNED, value + (long) i * Float.BYTES);
        float before = sum.getAtIndex(JAVA_FLOAT_UNALIGNED, place);
        sum.setAtIndex(JAVA_FLOAT_UNALIGNED, place, before + added);
      }
    }
    TensorView whole = new TensorView(DType.FLOAT32, Shape.of(elements), sum);
    long bad = Kernels.firstNotFinite(whole);
    if (bad >= 0) {
      int culprit = largest(parts, (int) bad);
      throw header.notFinite(bad, sum.getAtIndex(JAVA_FLOAT_UNALIGNED, bad), culprit);
    }
    Kernels.divide(DType.FLOAT32, sum, 0, elements, reducer.size());
    MemorySegment.copy(sum, 0, average, 0, (long) elements * Float.BYTES);
  }

  /// Returns the rank with the largest element at this place.
  private int largest(MemorySegment parts, int place) {
    int rank = 0;
    float most = -1;
    for (long at = 0; at < parts.byteSize(); at += length()) {
      long index = at + ExchangeHeader.BYTES;
      for (int i = 0; i < sent; i++) {
        float value = parts.get(JAVA_FLOAT_UNALIGNED, index + (long) sent * Integer.BYTES + i * 4L);
        if (parts.get(JAVA_INT_UNALIGNED, index + i * 4L) == place && Math.abs(value) > most) {
          most = Math.abs(value);
          rank = header.sender(parts, at, length(), 0);
        }
      }
    }
    return rank;
  }

  /// Returns an element of the gradient plus its residual.
  private float whole(MemorySegment gradient, long index) {
    return gradient.getAtIndex(JAVA_FLOAT_UNALIGNED, index)
        + residual.kept().getAtIndex(JAVA_FLOAT_UNALIGNED, index);
  }
}
