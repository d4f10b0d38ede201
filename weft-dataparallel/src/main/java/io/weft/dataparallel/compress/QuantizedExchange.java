// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.weft.collective.Communicator.Received;
import io.weft.dataparallel.CollectiveRequest.Allgather;
import io.weft.dataparallel.CollectiveRequest.Alltoall;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.quantize.Quantizer;
import io.weft.tensor.quantize.Residual;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// The exchange of quantized gradients, in two collectives:
///
/// 1. Each rank quantizes its gradient plus its residual and sends one slice to every rank
///    (alltoall).
/// 2. Each rank adds up its slice in FLOAT32 in rank order, divides, adds its residual of that sum,
///    quantizes the result and sends it to all ranks (allgather). All ranks write the received
///    bytes.
///
/// All ranks therefore write the same bits. Each rank sends 2(n-1)/n of the quantized bytes.
///
/// A joined rank counts as zeros and does not add up a slice. The other ranks exchange their parts
/// of its slice (allgather), and each adds them up in FLOAT32.
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
      Reducer reducer, Worker worker, CompressedGradient gradient, Quantizer quantizer) {
    super(reducer, worker, gradient);
    long elements = gradient.elements();
    this.quantizer = quantizer;
    this.slices = new Slices(elements, reducer.size());
    this.header = new ExchangeHeader(gradient, elements, quantizer.bits(), reducer.members());
    long own = slices.count(reducer.rank());
    this.residualOfSum = new Residual(own);
    Arena arena = Arena.ofAuto();
    this.sum = arena.allocate(Math.max(1, own) * Float.BYTES, 64);
    var lengths = new ArrayList<Long>();
    for (int rank = 0; rank < reducer.size(); rank++) {
      lengths.add(length(rank));
    }
    this.splits = List.copyOf(lengths);
    this.outgoing = bytes(arena, splits.stream().mapToLong(Long::longValue).sum());
    this.averaged = bytes(arena, length(reducer.rank()));
  }

  /// Returns the length on the wire of the slice that a rank adds up.
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
        reducer.submit(Alltoall.of(name + "/slices", outgoing, splits)),
        running,
        received -> slicesArrived(received, running));
  }

  /// Hot path.
  private void quantize(MemorySegment gradient) {
    MemorySegment data = outgoing.data();
    long bad = -1;
    long offset = 0;
    for (int rank = 0; rank < reducer.size() && bad < 0; rank++) {
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
    float value =
        bad < 0
            ? 0
            : gradient.getAtIndex(JAVA_FLOAT_UNALIGNED, bad)
                + residual.kept().getAtIndex(JAVA_FLOAT_UNALIGNED, bad);
    offset = 0;
    for (int rank = 0; rank < reducer.size(); rank++) {
      header.write(data, offset, reducer.rank(), bad, value);
      offset += length(rank);
    }
  }

  private void slicesArrived(Received received, Running running) {
    List<Long> lengths = received.splits();
    try (TensorLease parts = received.tensor()) {
      addUp(parts.view().data(), lengths);
    }
    List<Integer> joined =
        IntStream.range(0, lengths.size()).filter(rank -> lengths.get(rank) == 0).boxed().toList();
    exchangeMeans(new Joined(joined, new ArrayList<>()), running);
  }

  /// The ranks that have joined, and the means of their slices as far as they are known.
  private record Joined(List<Integer> ranks, List<MemorySegment> means) {}

  private void exchangeMeans(Joined joined, Running running) {
    if (joined.means().size() < joined.ranks().size()) {
      addUpFor(joined, running);
      return;
    }
    then(
        reducer.submit(Allgather.of(name + "/mean", averaged)),
        running,
        all -> meansArrived(all, joined, running));
  }

  /// Hot path.
  private void addUp(MemorySegment parts, List<Long> lengths) {
    int self = reducer.rank();
    long own = slices.count(self);
    long expected = length(self);
    long offset = 0;
    for (int rank = 0; rank < lengths.size(); rank++) {
      if (lengths.get(rank) != 0) {
        header.requireSame(parts, offset, lengths.get(rank), expected, rank);
        offset += expected;
      }
    }
    addUp(parts, own);
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
    header.write(averaged.data(), 0, self, bad < 0 ? -1 : slices.first(self) + bad, value);
  }

  /// Adds up the parts of one slice of several ranks.
  ///
  /// Hot path.
  ///
  /// @param parts parts of equal length, in rank order
  private void addUp(MemorySegment parts, long elements) {
    long length = ExchangeHeader.BYTES + quantizer.bytes(elements);
    for (long at = 0; at < parts.byteSize(); at += length) {
      header.requireNumbers(parts, at, header.sender(parts, at, length, 0), "");
      Quantizer.Into how = at == 0 ? Quantizer.Into.COPY : Quantizer.Into.SUM;
      quantizer.dequantize(parts, at + ExchangeHeader.BYTES, sum, 0, elements, how);
    }
  }

  private void meansArrived(TensorLease all, Joined joined, Running running) {
    try (all) {
      write(all.view().data(), joined, running.average().data());
    }
    residualOfSum.commit();
    succeed(running);
  }

  /// Hot path.
  private void write(MemorySegment means, Joined joined, MemorySegment average) {
    long offset = 0;
    for (int rank = 0; rank < splits.size(); rank++) {
      if (!joined.ranks().contains(rank)) {
        requireThere(means, offset, rank);
        header.requireSame(means, offset, splits.get(rank), splits.get(rank), rank);
        header.requireNumbers(means, offset, rank, "the mean of ");
        offset += splits.get(rank);
      }
    }
    offset = ExchangeHeader.BYTES;
    for (int rank = 0; rank < splits.size(); rank++) {
      long first = slices.first(rank);
      long count = slices.count(rank);
      int place = joined.ranks().indexOf(rank);
      if (place < 0) {
        quantizer.dequantize(means, offset, average, first, count, Quantizer.Into.COPY);
        offset += splits.get(rank);
      } else {
        MemorySegment mean = joined.means().get(place);
        MemorySegment.copy(mean, 0, average, first * Float.BYTES, count * Float.BYTES);
      }
    }
  }

  /// Throws `Broken` if this rank's part is missing because the rank has joined since.
  private void requireThere(MemorySegment parts, long offset, int rank) {
    long left = parts.byteSize() - offset;
    if (left == 0 || header.sender(parts, offset, left, rank) > rank) {
      throw header.absent(rank);
    }
  }

  /// Exchanges the next slice of a joined rank.
  private void addUpFor(Joined joined, Running running) {
    int slice = joined.ranks().get(joined.means().size());
    long offset = splits.subList(0, slice).stream().mapToLong(Long::longValue).sum();
    MemorySegment own = outgoing.data().asSlice(offset, splits.get(slice));
    var row = new TensorView(DType.UINT8, Shape.of(own.byteSize()), own);
    then(
        reducer.submit(Allgather.of(name + "/joined/" + slice, row)),
        running,
        all -> {
          try (all) {
            int there = reducer.size() - joined.ranks().size();
            joined.means().add(mean(all.view().data(), slice, there));
          }
          exchangeMeans(joined, running);
        });
  }

  /// Returns the mean of a joined rank's slice, with the same bits on all ranks.
  private MemorySegment mean(MemorySegment parts, int slice, int expected) {
    long count = slices.count(slice);
    long length = splits.get(slice);
    if (parts.byteSize() != expected * length) {
      throw header.absent(slice);
    }
    MemorySegment mean = Arena.ofAuto().allocate(count * Float.BYTES, 64);
    for (long at = 0; at < parts.byteSize(); at += length) {
      Quantizer.Into how = at == 0 ? Quantizer.Into.COPY : Quantizer.Into.SUM;
      quantizer.dequantize(parts, at + ExchangeHeader.BYTES, mean, 0, count, how);
    }
    Kernels.divide(DType.FLOAT32, mean, 0, count, reducer.size());
    long bad = Kernels.firstNotFinite(new TensorView(DType.FLOAT32, Shape.of(count), mean));
    if (bad >= 0) {
      float value = mean.getAtIndex(JAVA_FLOAT_UNALIGNED, bad);
      throw header.notFinite(slices.first(slice) + bad, value, slice);
    }
    return mean;
  }
}
