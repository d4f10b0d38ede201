// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.collective.Communicator;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.DType;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The mean of the largest elements of each rank's gradient plus residual: indices (INT32,
/// ascending), then values, of each rank, by one allgather. Every rank adds them up in the order of
/// ranks. What a rank has sent leaves its residual. Of equal magnitudes the lower index goes first.
final class TopKExchange extends FeedbackExchange {

  /// Of an element that travels: its index and its value.
  static final int BYTES = Integer.BYTES + Float.BYTES;

  private final int elements;
  private final int sent;
  private final ExchangeHeader header;
  private final TensorView outgoing;
  private final Largest largest = new Largest();

  /// Throws `IllegalArgumentException` for a tensor whose indices are no INT32.
  TopKExchange(
      Communicator communicator,
      Worker worker,
      String name,
      long elements,
      double ratio,
      Element.Source source) {
    if (elements > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "gradient '%s' has %d elements; of at most %d the largest can be sent: cut it in two"
              .formatted(name, elements, Integer.MAX_VALUE));
    }
    super(communicator, worker, name, elements);
    this.elements = (int) elements;
    this.sent = (int) sent(elements, ratio);
    this.header =
        new ExchangeHeader(
            name, elements, sent, BYTES * Byte.SIZE, communicator.members().ranks(), source);
    this.outgoing = bytes(Arena.ofAuto(), length());
  }

  /// How many elements travel.
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
    float value = bad < 0 ? 0 : gradient.data().getAtIndex(JAVA_FLOAT_UNALIGNED, bad);
    header.write(outgoing.data(), 0, bad, value);
    if (bad < 0) {
      select();
    }
    then(
        communicator.allgather(outgoing, named("/largest")), running, all -> arrived(all, running));
  }

  /// Gradient plus residual. Returns the place of the first that is no number, or -1.
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

  /// Moves the largest elements from the next residual to what goes out.
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

  /// Hot path.
  private void addUp(MemorySegment parts, MemorySegment average) {
    int ranks = communicator.size();
    long length = length();
    for (int rank = 0; rank < ranks; rank++) {
      long there = Math.clamp(parts.byteSize() - rank * length, 0, length);
      boolean last = rank == ranks - 1;
      long rest = last ? parts.byteSize() - rank * length : there;
      header.requireSame(parts, rank * length, rest, length, rank);
    }
    for (int rank = 0; rank < ranks; rank++) {
      header.requireNumbers(parts, rank * length, rank, "");
    }
    average.fill((byte) 0);
    for (int rank = 0; rank < ranks; rank++) {
      long index = rank * length + ExchangeHeader.BYTES;
      long value = index + (long) sent * Integer.BYTES;
      for (int i = 0; i < sent; i++) {
        int at = parts.get(JAVA_INT_UNALIGNED, index + (long) i * Integer.BYTES);
        float added = parts.get(JAVA_FLOAT_UNALIGNED, value + (long) i * Float.BYTES);
        float before = average.getAtIndex(JAVA_FLOAT_UNALIGNED, at);
        average.setAtIndex(JAVA_FLOAT_UNALIGNED, at, before + added);
      }
    }
    Kernels.divide(DType.FLOAT32, average, 0, elements, ranks);
  }
}
