// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.wire;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.collective.Communicator.Received;
import io.weft.collective.exchange.BufferLayout;
import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.Results;
import io.weft.collective.exchange.RowPartition;
import io.weft.collective.exchange.Stage;
import io.weft.collective.plan.RankSchedule;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.ReduceKernel;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The stages of each collective. If a rank must first learn the others' extents, stage 0 exchanges
/// counts and stage 1 the data.
public final class WirePlans {

  private WirePlans() {}

  /// A plan of one stage, in place or from input to output.
  record OneStage<T>(Stage only, @Nullable T value) implements OperationPlan<T> {
    @Override
    public @Nullable Stage stage(int index) {
      return index == 0 ? only : null;
    }

    @Override
    @SuppressWarnings("NullAway") // null only where T is Void
    public T result() {
      return value;
    }

    @Override
    public void discard() {}
  }

  public static OperationPlan<TensorView> allreduce(
      RankSchedule schedule, TensorView input, TensorView output, ReduceOp op, int size) {
    BufferLayout place =
        BufferLayout.even(input.data(), output.data(), schedule.chunks(), input.dtype().bytes());
    return new OneStage<>(reducing(schedule, place, input.dtype(), op, size), output);
  }

  public static OperationPlan<TensorView> broadcast(RankSchedule schedule, TensorView inOut) {
    return new OneStage<>(WireStage.spreading(schedule, inOut), inOut);
  }

  private static Stage reducing(
      RankSchedule schedule, BufferLayout place, DType dtype, ReduceOp op, int size) {
    ReduceKernel reducer = Kernels.reducer(dtype, op);
    return new WireStage(schedule, place, reducer, dtype, op == ReduceOp.AVERAGE ? size : 1);
  }

  /// Creates an allreduce of one byte, which is and remains zero on all ranks.
  public static OperationPlan<Void> barrier(RankSchedule schedule, MemorySegment zero) {
    BufferLayout place = BufferLayout.even(zero, zero, schedule.chunks(), 1);
    return new OneStage<>(reducing(schedule, place, DType.UINT8, ReduceOp.MAX, 1), null);
  }

  /// Combines in a scratch of the input's size, then copies this rank's rows to the output.
  public static OperationPlan<TensorView> reduceScatter(
      RankSchedule schedule, TensorView input, TensorView output, ReduceOp op, int rank, int size) {
    return new OperationPlan<>() {
      private final TensorLease scratch = OwnedTensor.allocate(input.dtype(), input.shape());
      private final long[] bytes =
          RowPartition.inBytes(
              RowPartition.even(input.shape().dims().getFirst(), size),
              RowPartition.rowBytes(input));
      private final long[] offset = RowPartition.starts(bytes);

      @Override
      public @Nullable Stage stage(int index) {
        if (index > 0) {
          return null;
        }
        BufferLayout place =
            new BufferLayout(input.data(), offset, scratch.view().data(), offset, bytes, true);
        return reducing(schedule, place, input.dtype(), op, size);
      }

      @Override
      public TensorView result() {
        output.data().copyFrom(scratch.view().data().asSlice(offset[rank], bytes[rank]));
        scratch.close();
        return output;
      }

      @Override
      public void discard() {
        scratch.close();
      }
    };
  }

  /// Creates an allgather: stage 0 spreads the number of rows of each rank, stage 1 the rows.
  public static OperationPlan<TensorLease> allgather(
      RankSchedule counts,
      RankSchedule data,
      TensorView input,
      int rank,
      int size,
      Results results) {
    return new OperationPlan<>() {
      private final MemorySegment rows = counts(size);
      private @Nullable TensorLease gathered;

      @Override
      public @Nullable Stage stage(int index) {
        if (index == 0) {
          return countsStage();
        }
        return index == 1 ? dataStage() : null;
      }

      private Stage countsStage() {
        rows.setAtIndex(JAVA_LONG, rank, input.shape().dims().getFirst());
        BufferLayout place = BufferLayout.even(rows, rows, size, Long.BYTES);
        return new WireStage(counts, place, null, DType.INT64, 1);
      }

      private Stage dataStage() {
        long[] each = rows.toArray(JAVA_LONG);
        long[] bytes = RowPartition.inBytesChecked(each, RowPartition.rowBytes(input));
        long[] offset = RowPartition.starts(bytes);
        TensorLease whole = results.gathered(input, each);
        gathered = whole;
        long[] source = new long[size];
        Arrays.fill(source, -1);
        source[rank] = 0;
        BufferLayout place =
            new BufferLayout(input.data(), source, whole.view().data(), offset, bytes, true);
        return new WireStage(data, place, null, input.dtype(), 1);
      }

      @Override
      public TensorLease result() {
        return Objects.requireNonNull(gathered);
      }

      @Override
      public void discard() {
        if (gathered != null) {
          gathered.close();
        }
      }
    };
  }

  /// Creates an alltoall: stage 0 sends each rank the number of its rows, stage 1 the rows.
  public static OperationPlan<Received> alltoall(
      RankSchedule schedule,
      TensorView input,
      List<Long> splits,
      int rank,
      int size,
      Results results) {
    return new OperationPlan<>() {
      private final MemorySegment sent = counts(size);
      private final MemorySegment got = counts(size);
      private @Nullable TensorLease received;

      @Override
      public @Nullable Stage stage(int index) {
        if (index == 0) {
          return countsStage();
        }
        return index == 1 ? dataStage() : null;
      }

      private Stage countsStage() {
        for (int r = 0; r < size; r++) {
          sent.setAtIndex(JAVA_LONG, r, splits.get(r));
        }
        long[] one = new long[size];
        Arrays.fill(one, Long.BYTES);
        BufferLayout place = square(sent, one, got, one);
        return new WireStage(schedule, place, null, DType.INT64, 1);
      }

      private Stage dataStage() {
        long[] from = got.toArray(JAVA_LONG);
        long[] in = RowPartition.inBytesChecked(from, RowPartition.rowBytes(input));
        TensorLease whole = results.gathered(input, from);
        received = whole;
        long[] out =
            RowPartition.inBytes(
                splits.stream().mapToLong(Long::longValue).toArray(), RowPartition.rowBytes(input));
        BufferLayout place = square(input.data(), out, whole.view().data(), in);
        return new WireStage(schedule, place, null, input.dtype(), 1);
      }

      /// Returns a layout with chunk `s * n + d`: this rank sends its row of the square and
      /// receives its column.
      private BufferLayout square(
          MemorySegment source, long[] out, MemorySegment target, long[] in) {
        long[] bytes = new long[size * size];
        long[] sourceOffset = new long[size * size];
        long[] targetOffset = new long[size * size];
        Arrays.fill(sourceOffset, -1);
        Arrays.fill(targetOffset, -1);
        long[] outStarts = RowPartition.starts(out);
        long[] inStarts = RowPartition.starts(in);
        for (int r = 0; r < size; r++) {
          bytes[rank * size + r] = out[r];
          sourceOffset[rank * size + r] = outStarts[r];
        }
        for (int r = 0; r < size; r++) {
          bytes[r * size + rank] = in[r];
          targetOffset[r * size + rank] = inStarts[r];
        }
        return new BufferLayout(source, sourceOffset, target, targetOffset, bytes, false);
      }

      @Override
      public Received result() {
        List<Long> rows = new ArrayList<>();
        for (long count : got.toArray(JAVA_LONG)) {
          rows.add(count);
        }
        return new Received(Objects.requireNonNull(received), rows);
      }

      @Override
      public void discard() {
        if (received != null) {
          received.close();
        }
      }
    };
  }

  /// Allocates the counts of all ranks, on the heap because each is sent inside a message.
  private static MemorySegment counts(int size) {
    return MemorySegment.ofArray(new long[size]);
  }
}
