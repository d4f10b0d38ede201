// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.dataparallel.worker.WorkerHandle;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// The mean of the largest elements of each rank's gradient plus residual: indices (INT32,
/// ascending), then values, of each rank, by one allgather. Every rank adds them up in the order of
/// ranks. What a rank has sent leaves its residual. Of equal magnitudes the lower index goes first.
final class TopKExchange implements TensorExchange {

  /// Of an element that travels: its index and its value.
  static final int BYTES = Integer.BYTES + Float.BYTES;

  private final Communicator communicator;
  private final Worker worker;
  private final String name;
  private final int elements;
  private final int sent;
  private final ExchangeHeader header;
  private final Residual residual;
  private final TensorView outgoing;
  private final Largest largest = new Largest();
  private final AtomicBoolean busy = new AtomicBoolean();

  /// Throws `IllegalArgumentException` for a tensor whose indices are no INT32.
  TopKExchange(Communicator communicator, Worker worker, String name, long elements, double ratio) {
    if (elements > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "gradient '%s' has %d elements; of at most %d the largest can be sent: cut it in two"
              .formatted(name, elements, Integer.MAX_VALUE));
    }
    this.communicator = communicator;
    this.worker = worker;
    this.name = name;
    this.elements = (int) elements;
    this.sent = (int) sent(elements, ratio);
    this.header = new ExchangeHeader(name, elements, sent, BYTES * Byte.SIZE);
    this.residual = new Residual(elements);
    long length = length();
    this.outgoing =
        new TensorView(DType.UINT8, Shape.of(length), Arena.ofAuto().allocate(length, 64));
  }

  /// How many elements travel.
  static long sent(long elements, double ratio) {
    return elements == 0 ? 0 : Math.clamp(Math.round(ratio * elements), 1, elements);
  }

  private long length() {
    return ExchangeHeader.BYTES + (long) sent * BYTES;
  }

  @Override
  public long elements() {
    return elements;
  }

  @Override
  public Handle<TensorView> start(TensorView gradient, TensorView average) {
    if (!busy.compareAndSet(false, true)) {
      throw new IllegalStateException(
          "gradient '%s' is being averaged already on rank %d; await that first, or give this one another name"
              .formatted(name, communicator.rank()));
    }
    var handle =
        new WorkerHandle<TensorView>(
            "the mean of the largest elements of '%s' on rank %d"
                .formatted(name, communicator.rank()));
    try {
      long bad = add(gradient.data());
      float value = bad < 0 ? 0 : gradient.data().getAtIndex(JAVA_FLOAT_UNALIGNED, bad);
      header.write(outgoing.data(), 0, bad, value);
      if (bad < 0) {
        select();
      }
      worker.after(
          communicator.allgather(outgoing, CollectiveOptions.named(name + "/largest")),
          (all, failure) -> arrived(all, failure, average, handle));
      return handle;
    } catch (RuntimeException | Error refused) {
      busy.set(false);
      throw refused;
    }
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

  private void arrived(
      @Nullable TensorLease all,
      @Nullable CommException failure,
      TensorView average,
      WorkerHandle<TensorView> handle) {
    if (failure != null) {
      end(handle, failure);
      return;
    }
    try (TensorLease parts = Objects.requireNonNull(all)) {
      addUp(parts.view().data(), average.data());
      residual.commit();
    } catch (RuntimeException | Error thrown) {
      end(handle, thrown);
      return;
    }
    busy.set(false);
    handle.complete(average);
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
      header.requireNumbers(parts, rank * length, rank, "gradient");
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

  private void end(WorkerHandle<TensorView> handle, Throwable cause) {
    busy.set(false);
    handle.fail(cause, communicator.rank());
  }
}
