// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sparse;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.CompletableHandle;
import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The exchange of one sparse gradient: the counts of all ranks, then rows or whole tables.
final class SparseExchange {

  private final Communicator communicator;
  private final Worker worker;
  private final String name;
  private final SliceCounts counts;
  private final ReduceOp op;
  private final RowSums sums;
  private final Shape rowShape;
  private final OwnedTensor packed;
  private final CompletableHandle<ReducedSlices> handle;

  /// A rank's contribution.
  ///
  /// @param slices the caller's gradient
  /// @param sums sums of its rows; empty if an id is outside the table
  /// @param counts the counts that are exchanged first
  record Contribution(
      String name, SparseGradient slices, RowSums sums, SliceCounts counts, ReduceOp op) {}

  SparseExchange(Communicator communicator, Worker worker, Contribution own) {
    this.communicator = communicator;
    this.worker = worker;
    this.name = own.name();
    this.counts = own.counts();
    this.op = own.op();
    this.sums = own.sums();
    this.rowShape = own.slices().rows().shape();
    this.handle = CompletableHandle.of("sparse gradient '%s' on rank %d".formatted(name, self()));
    long stride = Long.BYTES + counts.width() * Float.BYTES;
    this.packed = OwnedTensor.allocate(DType.UINT8, Shape.of(sums.count(), stride));
    sums.add(
        new RowSums.Rows(own.slices().rows().data(), 0, counts.width()),
        new RowSums.Rows(packed.view().data(), Long.BYTES, counts.width()));
  }

  Handle<ReducedSlices> start() {
    OwnedTensor own = OwnedTensor.allocate(DType.INT64, Shape.of(1, SliceCounts.FIELDS));
    counts.write(own.view().data());
    try {
      worker.after(
          communicator.allgather(own.view(), CollectiveOptions.named(name + "/counts")),
          (all, failure) -> {
            own.close();
            counted(all, failure);
          });
    } catch (RuntimeException | Error refused) {
      own.close();
      packed.close();
      throw refused;
    }
    return handle;
  }

  private void counted(@Nullable TensorLease gathered, @Nullable CommException failure) {
    if (failure != null) {
      end(failure);
      return;
    }
    try (TensorLease lease = Objects.requireNonNull(gathered)) {
      List<SliceCounts> all = SliceCounts.read(lease.view().data(), communicator.size());
      counts.requireSame(name, all, communicator.members().ranks());
      long rows = all.stream().mapToLong(SliceCounts::unique).sum();
      if (rows > counts.denseAbove() * counts.tableRows()) {
        reduceTable();
      } else {
        worker.after(
            communicator.allgather(packed.view(), CollectiveOptions.named(name + "/rows")),
            (received, lost) -> gathered(received, lost, rows));
      }
    } catch (RuntimeException | Error thrown) {
      end(thrown);
    }
  }

  private void reduceTable() {
    OwnedTensor table = OwnedTensor.allocate(DType.FLOAT32, rowShape.withFirst(counts.tableRows()));
    try {
      long bytes = counts.width() * Float.BYTES;
      var rows = new RowSums.Rows(packed.view().data(), Long.BYTES, counts.width());
      for (int row = 0; row < sums.count(); row++) {
        MemorySegment.copy(
            rows.memory(), rows.at(row), table.view().data(), sums.ids()[row] * bytes, bytes);
      }
      TensorView whole = table.view();
      worker.after(
          communicator.allreduce(whole, whole, op, CollectiveOptions.named(name + "/table")),
          (reduced, failure) -> {
            if (failure != null) {
              table.close();
              end(failure);
            } else {
              packed.close();
              handle.complete(new ReducedSlices.Dense(table));
            }
          });
    } catch (RuntimeException | Error thrown) {
      table.close();
      throw thrown;
    }
  }

  private void gathered(
      @Nullable TensorLease received, @Nullable CommException failure, long count) {
    if (failure != null) {
      end(failure);
      return;
    }
    ReducedSlices merged;
    try (TensorLease all = Objects.requireNonNull(received)) {
      merged = merge(all.view().data(), Math.toIntExact(count));
    } catch (RuntimeException | Error thrown) {
      end(thrown);
      return;
    }
    packed.close();
    handle.complete(merged);
  }

  private ReducedSlices merge(MemorySegment all, int count) {
    var given = new RowSums.Rows(all, Long.BYTES, counts.width());
    long[] ids = new long[count];
    for (int row = 0; row < count; row++) {
      ids[row] = all.get(JAVA_LONG_UNALIGNED, row * given.stride());
    }
    RowSums merged = RowSums.of(ids);
    OwnedTensor outIds = OwnedTensor.allocate(DType.INT64, Shape.of(merged.count()));
    OwnedTensor outRows = OwnedTensor.allocate(DType.FLOAT32, rowShape.withFirst(merged.count()));
    MemorySegment.copy(
        merged.ids(), 0, outIds.view().data(), JAVA_LONG_UNALIGNED, 0, merged.count());
    MemorySegment rows = outRows.view().data();
    merged.add(given, new RowSums.Rows(rows, 0, counts.width()));
    if (op == ReduceOp.AVERAGE) {
      long elements = merged.count() * counts.width();
      Kernels.divide(DType.FLOAT32, rows, 0, elements, communicator.size());
    }
    return new ReducedSlices.Sparse(outIds, outRows);
  }

  private void end(Throwable cause) {
    packed.close();
    handle.fail(cause, self());
  }

  /// Returns this rank's number in the job.
  private int self() {
    return communicator.members().ranks().get(communicator.rank());
  }
}
