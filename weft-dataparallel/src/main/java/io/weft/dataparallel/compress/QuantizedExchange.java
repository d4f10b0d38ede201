// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// The mean of quantized gradients, in two collectives:
///
/// 1. each rank quantizes its gradient plus its residual and sends every rank one slice (alltoall);
/// 2. each rank adds up its slice in FLOAT32 in the order of ranks, divides, adds its residual of
///    that sum, quantizes it, and sends it to all (allgather), who write what they get.
///
/// All ranks so write the same bits. Each sends 2(n-1)/n of the quantized bytes.
final class QuantizedExchange implements TensorExchange {

  private final Communicator communicator;
  private final Worker worker;
  private final Quantizer quantizer;
  private final String name;
  private final long elements;
  private final Slices slices;
  private final ExchangeHeader header;
  private final Residual residual;
  private final Residual residualOfSum;
  private final MemorySegment sum;
  private final TensorView outgoing;
  private final TensorView averaged;
  private final List<Long> splits;
  private final AtomicBoolean busy = new AtomicBoolean();

  QuantizedExchange(
      Communicator communicator, Worker worker, String name, long elements, Quantizer quantizer) {
    this.communicator = communicator;
    this.worker = worker;
    this.quantizer = quantizer;
    this.name = name;
    this.elements = elements;
    this.slices = new Slices(elements, communicator.size());
    this.header = new ExchangeHeader(name, elements, elements, quantizer.bits());
    long own = slices.count(communicator.rank());
    this.residual = new Residual(elements);
    this.residualOfSum = new Residual(own);
    Arena arena = Arena.ofAuto();
    this.sum = arena.allocate(Math.max(1, own) * Float.BYTES, 64);
    var lengths = new ArrayList<Long>();
    for (int rank = 0; rank < communicator.size(); rank++) {
      lengths.add(length(rank));
    }
    this.splits = List.copyOf(lengths);
    this.outgoing = bytes(arena, splits.stream().mapToLong(Long::longValue).sum());
    this.averaged = bytes(arena, length(communicator.rank()));
  }

  private static TensorView bytes(Arena arena, long length) {
    return new TensorView(DType.UINT8, Shape.of(length), arena.allocate(length, 64));
  }

  /// Of the slice that this rank adds up, on the wire.
  private long length(int rank) {
    return ExchangeHeader.BYTES + quantizer.bytes(slices.count(rank));
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
            "the mean of '%s' by int%d on rank %d"
                .formatted(name, quantizer.bits(), communicator.rank()));
    try {
      quantize(gradient.data());
      worker.after(
          communicator.alltoall(outgoing, splits, CollectiveOptions.named(name + "/slices")),
          (received, failure) -> slicesArrived(received, failure, average, handle));
      return handle;
    } catch (RuntimeException | Error refused) {
      busy.set(false);
      throw refused;
    }
  }

  /// Hot path.
  private void quantize(MemorySegment gradient) {
    MemorySegment data = outgoing.data();
    long bad = -1;
    long offset = 0;
    for (int rank = 0; rank < communicator.size() && bad < 0; rank++) {
      long first = slices.first(rank);
      long count = slices.count(rank);
      long at = first * Float.BYTES;
      long bytes = count * Float.BYTES;
      long place =
          quantizer.quantize(
              gradient.asSlice(at, bytes),
              residual.kept().asSlice(at, bytes),
              residual.next().asSlice(at, bytes),
              count,
              data,
              offset + ExchangeHeader.BYTES);
      bad = place < 0 ? -1 : first + place;
      offset += length(rank);
    }
    float value = bad < 0 ? 0 : gradient.getAtIndex(JAVA_FLOAT_UNALIGNED, bad);
    offset = 0;
    for (int rank = 0; rank < communicator.size(); rank++) {
      header.write(data, offset, bad, value);
      offset += length(rank);
    }
  }

  private void slicesArrived(
      Communicator.@Nullable Received received,
      @Nullable CommException failure,
      TensorView average,
      WorkerHandle<TensorView> handle) {
    if (failure != null) {
      end(handle, failure);
      return;
    }
    try {
      try (TensorLease parts = Objects.requireNonNull(received).tensor()) {
        addUp(parts.view().data(), received.splits());
      }
      worker.after(
          communicator.allgather(averaged, CollectiveOptions.named(name + "/mean")),
          (all, lost) -> meansArrived(all, lost, average, handle));
    } catch (RuntimeException | Error thrown) {
      end(handle, thrown);
    }
  }

  /// Hot path.
  private void addUp(MemorySegment parts, List<Long> lengths) {
    int self = communicator.rank();
    long own = slices.count(self);
    long expected = length(self);
    long offset = 0;
    for (int rank = 0; rank < lengths.size(); rank++) {
      header.requireSame(parts, offset, lengths.get(rank), expected, rank);
      offset += expected;
    }
    offset = 0;
    for (int rank = 0; rank < lengths.size(); rank++) {
      header.requireNumbers(parts, offset, rank, "gradient");
      Quantizer.Into how = rank == 0 ? Quantizer.Into.COPY : Quantizer.Into.SUM;
      quantizer.dequantize(parts, offset + ExchangeHeader.BYTES, sum, 0, own, how);
      offset += expected;
    }
    Kernels.divide(DType.FLOAT32, sum, 0, own, lengths.size());
    long bad =
        quantizer.quantize(
            sum,
            residualOfSum.kept(),
            residualOfSum.next(),
            own,
            averaged.data(),
            ExchangeHeader.BYTES);
    float value = bad < 0 ? 0 : sum.getAtIndex(JAVA_FLOAT_UNALIGNED, bad);
    header.write(averaged.data(), 0, bad < 0 ? -1 : slices.first(self) + bad, value);
  }

  private void meansArrived(
      @Nullable TensorLease all,
      @Nullable CommException failure,
      TensorView average,
      WorkerHandle<TensorView> handle) {
    if (failure != null) {
      end(handle, failure);
      return;
    }
    try (TensorLease means = Objects.requireNonNull(all)) {
      MemorySegment data = means.view().data();
      long offset = 0;
      for (int rank = 0; rank < splits.size(); rank++) {
        header.requireSame(data, offset, splits.get(rank), splits.get(rank), rank);
        header.requireNumbers(data, offset, rank, "the mean of gradient");
        offset += splits.get(rank);
      }
      offset = ExchangeHeader.BYTES;
      for (int rank = 0; rank < splits.size(); rank++) {
        quantizer.dequantize(
            data,
            offset,
            average.data(),
            slices.first(rank),
            slices.count(rank),
            Quantizer.Into.COPY);
        offset += splits.get(rank);
      }
      residual.commit();
      residualOfSum.commit();
    } catch (RuntimeException | Error thrown) {
      end(handle, thrown);
      return;
    }
    busy.set(false);
    handle.complete(average);
  }

  private void end(WorkerHandle<TensorView> handle, Throwable cause) {
    busy.set(false);
    handle.fail(cause, communicator.rank());
  }
}
