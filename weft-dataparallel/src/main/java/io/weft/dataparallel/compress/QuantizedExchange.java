// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.weft.collective.Communicator;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.DType;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.quantize.Quantizer;
import io.weft.tensor.quantize.Residual;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// The mean of quantized gradients, in two collectives:
///
/// 1. each rank quantizes its gradient plus its residual and sends every rank one slice (alltoall);
/// 2. each rank adds up its slice in FLOAT32 in the order of ranks, divides, adds its residual of
///    that sum, quantizes it, and sends it to all (allgather), who write what they get.
///
/// All ranks so write the same bits. Each sends 2(n-1)/n of the quantized bytes.
final class QuantizedExchange extends FeedbackExchange {

  private final Quantizer quantizer;
  private final Slices slices;
  private final ExchangeHeader header;
  private final Residual residualOfSum;
  private final MemorySegment sum;
  private final TensorView outgoing;
  private final TensorView averaged;
  private final List<Long> splits;

  QuantizedExchange(
      Communicator communicator,
      Worker worker,
      String name,
      long elements,
      Quantizer quantizer,
      Element.Source source) {
    super(communicator, worker, name, elements);
    this.quantizer = quantizer;
    this.slices = new Slices(elements, communicator.size());
    this.header =
        new ExchangeHeader(
            name, elements, elements, quantizer.bits(), communicator.members().ranks(), source);
    long own = slices.count(communicator.rank());
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

  /// Of the slice that this rank adds up, on the wire.
  private long length(int rank) {
    return ExchangeHeader.BYTES + quantizer.bytes(slices.count(rank));
  }

  @Override
  String words() {
    return "the mean by int" + quantizer.bits();
  }

  @Override
  void begin(TensorView gradient, Running running) {
    quantize(gradient.data());
    then(
        communicator.alltoall(outgoing, splits, named("/slices")),
        running,
        received -> slicesArrived(received, running));
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

  private void slicesArrived(Communicator.Received received, Running running) {
    try (TensorLease parts = received.tensor()) {
      addUp(parts.view().data(), received.splits());
    }
    then(
        communicator.allgather(averaged, named("/mean")),
        running,
        all -> meansArrived(all, running));
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
      header.requireNumbers(parts, offset, rank, "");
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

  private void meansArrived(TensorLease all, Running running) {
    try (all) {
      write(all.view().data(), running.average().data());
    }
    residualOfSum.commit();
    succeed(running);
  }

  /// Hot path.
  private void write(MemorySegment means, MemorySegment average) {
    long offset = 0;
    for (int rank = 0; rank < splits.size(); rank++) {
      header.requireSame(means, offset, splits.get(rank), splits.get(rank), rank);
      header.requireNumbers(means, offset, rank, "the mean of ");
      offset += splits.get(rank);
    }
    offset = ExchangeHeader.BYTES;
    for (int rank = 0; rank < splits.size(); rank++) {
      quantizer.dequantize(
          means, offset, average, slices.first(rank), slices.count(rank), Quantizer.Into.COPY);
      offset += splits.get(rank);
    }
  }
}
