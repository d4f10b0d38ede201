// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/// A request for one collective of the data-parallel layer other than an allreduce. All fields
/// except tensors and the deadline must be equal on all ranks. Tensors are borrowed until the
/// handle completes.
///
/// @param <T> type of the handle's result
public sealed interface CollectiveRequest<T>
    permits CollectiveRequest.Allgather,
        CollectiveRequest.ReduceScatter,
        CollectiveRequest.Broadcast,
        CollectiveRequest.Alltoall,
        TuneRequest {

  /// Returns the name by which ranks match the request: 1 to 512 characters.
  String name();

  /// Returns this rank's tensor.
  TensorView input();

  /// Returns the time to wait for other ranks, after which the collective fails on all ranks; zero
  /// = the deadline of the options.
  Duration deadline();

  /// A request that gathers the rows of all ranks, in rank order, on all ranks. Ranks may
  /// contribute different numbers of rows; type and row shape must be equal. Completes with the
  /// result, which the caller owns.
  record Allgather(String name, TensorView input, Duration deadline)
      implements CollectiveRequest<TensorLease> {

    /// Throws `IllegalArgumentException` for a scalar or an invalid name.
    public Allgather {
      checkRows(name, input, deadline);
    }

    /// Returns a request with the deadline of the options.
    public static Allgather of(String name, TensorView input) {
      return new Allgather(name, input, Duration.ZERO);
    }
  }

  /// A request that combines the tensors of all ranks and gives each rank its rows. If the first
  /// extent is N, rank r of n receives N/n rows, rounded down, and one more if r < N mod n.
  /// Completes with the output.
  ///
  /// @param output memory for this rank's rows; must not overlap the input
  /// @param prescale factor of each rank's elements before they are combined; 1 = none
  /// @param postscale factor of the result; 1 = none
  record ReduceScatter(
      String name,
      TensorView input,
      TensorView output,
      ReduceOp op,
      double prescale,
      double postscale,
      Duration deadline)
      implements CollectiveRequest<TensorView> {

    /// Throws `IllegalArgumentException` for a scalar, an invalid name, or different types of input
    /// and output. Throws it also if a scale is not 1 and the type is not a floating type, the
    /// operation is not SUM or AVERAGE, or the scale is not a normal number of the type.
    public ReduceScatter {
      checkRows(name, input, deadline);
      if (output.dtype() != input.dtype()) {
        throw new IllegalArgumentException(
            "reduceScatter '%s': the output is %s, expected type %s"
                .formatted(name, output.signature(), input.dtype()));
      }
      if (prescale != 1 || postscale != 1) {
        ReductionRequest.checkScaled(
            "reduceScatter '" + name + "'", input.dtype(), op, prescale, postscale);
      }
    }

    /// Returns a request without scales, with the deadline of the options.
    public static ReduceScatter of(String name, TensorView input, TensorView output, ReduceOp op) {
      Objects.requireNonNull(op, "op");
      return new ReduceScatter(name, input, output, op, 1, 1, Duration.ZERO);
    }

    /// Returns this request with other factors, which are allowed for SUM or AVERAGE of floating
    /// types.
    public ReduceScatter scaled(double before, double after) {
      return new ReduceScatter(name, input, output, op, before, after, deadline);
    }
  }

  /// A request that copies the root's tensor to all ranks. Completes with the tensor.
  ///
  /// @param input read on the root, written on the other ranks
  /// @param root the root's rank in the communicator
  record Broadcast(String name, TensorView input, int root, Duration deadline)
      implements CollectiveRequest<TensorView> {

    /// Throws `IllegalArgumentException` for a negative root or an invalid name.
    public Broadcast {
      Objects.requireNonNull(input, "input");
      checkName(name, deadline);
      if (root < 0) {
        throw new IllegalArgumentException("broadcast '%s': root %d".formatted(name, root));
      }
    }

    /// Returns a request with the deadline of the options.
    public static Broadcast of(String name, TensorView tensor, int root) {
      Objects.requireNonNull(tensor, "tensor");
      return new Broadcast(name, tensor, root, Duration.ZERO);
    }
  }

  /// A request that sends rows to each rank and receives rows from each rank, in rank order. Type
  /// and row shape must be equal on all ranks. Completes with the received rows, which the caller
  /// owns.
  ///
  /// @param splits the number of rows for each rank; their sum is the first extent
  record Alltoall(String name, TensorView input, List<Long> splits, Duration deadline)
      implements CollectiveRequest<Communicator.Received> {

    /// Throws `IllegalArgumentException` for a scalar, a negative number of rows, splits whose sum
    /// is not the first extent, or an invalid name.
    public Alltoall {
      checkRows(name, input, deadline);
      splits = List.copyOf(splits);
      long rows = input.shape().dims().getFirst();
      long left = rows;
      for (long split : splits) {
        if (split < 0 || split > left) {
          throw refused(name, splits, rows);
        }
        left -= split;
      }
      if (left != 0) {
        throw refused(name, splits, rows);
      }
    }

    private static IllegalArgumentException refused(String name, List<Long> splits, long rows) {
      return new IllegalArgumentException(
          "alltoall '%s': splits of %s rows; their sum must be the %d rows of the input"
              .formatted(name, splits, rows));
    }

    /// Returns a request with the deadline of the options.
    public static Alltoall of(String name, TensorView input, List<Long> splits) {
      return new Alltoall(name, input, splits, Duration.ZERO);
    }
  }

  private static void checkName(String name, Duration deadline) {
    var unused = CollectiveOptions.named(name).within(deadline);
  }

  private static void checkRows(String name, TensorView input, Duration deadline) {
    checkName(name, deadline);
    if (input.shape().dims().isEmpty()) {
      throw new IllegalArgumentException(
          "tensor '%s' is a scalar and has no rows; give it the shape [1]".formatted(name));
    }
  }
}
