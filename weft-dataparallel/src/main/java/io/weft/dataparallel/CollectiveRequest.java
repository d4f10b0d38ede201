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

/// One collective of the data-parallel layer other than an allreduce, as data. What is not a tensor
/// is the same on all ranks, but for the deadline. Tensors are borrowed until the handle completes.
///
/// @param <T> what its handle completes with
public sealed interface CollectiveRequest<T>
    permits CollectiveRequest.Allgather,
        CollectiveRequest.ReduceScatter,
        CollectiveRequest.Broadcast,
        CollectiveRequest.Alltoall,
        TuneRequest {

  /// By which ranks match it: 1 to 512 characters.
  String name();

  /// This rank's tensor.
  TensorView input();

  /// After which wait for other ranks it fails on all of them; zero = as the options say.
  Duration deadline();

  /// The rows of all ranks, in rank order, on all. Ranks may bring different numbers of rows, of
  /// one type and shape. Completes with the result, which the caller owns.
  record Allgather(String name, TensorView input, Duration deadline)
      implements CollectiveRequest<TensorLease> {

    /// Throws `IllegalArgumentException` for a scalar, or a bad name.
    public Allgather {
      checkRows(name, input, deadline);
    }

    /// With the deadline of the options.
    public static Allgather of(String name, TensorView input) {
      return new Allgather(name, input, Duration.ZERO);
    }
  }

  /// Combines the tensors of all ranks and gives each rank its rows: of first extent N, rank r of n
  /// gets N/n, and one more if r < N mod n. Completes with the output.
  ///
  /// @param output where this rank's rows are written, apart from the input
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

    /// Throws `IllegalArgumentException` for a scalar, if the types differ, if another type than a
    /// floating one is scaled, or what is not added, or by a factor that is not a normal number of
    /// its type, or for a bad name.
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

    /// Without scales, with the deadline of the options.
    public static ReduceScatter of(String name, TensorView input, TensorView output, ReduceOp op) {
      Objects.requireNonNull(op, "op");
      return new ReduceScatter(name, input, output, op, 1, 1, Duration.ZERO);
    }

    /// The same with other factors, of SUM or AVERAGE of floating types.
    public ReduceScatter scaled(double before, double after) {
      return new ReduceScatter(name, input, output, op, before, after, deadline);
    }
  }

  /// Copies the root's tensor to all. Completes with the tensor.
  ///
  /// @param input read on the root, written on the others
  /// @param root its rank in the communicator
  record Broadcast(String name, TensorView input, int root, Duration deadline)
      implements CollectiveRequest<TensorView> {

    /// Throws `IllegalArgumentException` for a negative root or a bad name.
    public Broadcast {
      Objects.requireNonNull(input, "input");
      checkName(name, deadline);
      if (root < 0) {
        throw new IllegalArgumentException("broadcast '%s': root %d".formatted(name, root));
      }
    }

    /// With the deadline of the options.
    public static Broadcast of(String name, TensorView tensor, int root) {
      Objects.requireNonNull(tensor, "tensor");
      return new Broadcast(name, tensor, root, Duration.ZERO);
    }
  }

  /// Sends each rank its rows, and gives what all ranks sent here, in rank order. Rows are of one
  /// type and shape on all ranks. Completes with what came, which the caller owns.
  ///
  /// @param splits how many rows go to each rank; together the first extent
  record Alltoall(String name, TensorView input, List<Long> splits, Duration deadline)
      implements CollectiveRequest<Communicator.Received> {

    /// Throws `IllegalArgumentException` for a scalar, a negative number of rows, splits that are
    /// not the first extent together, or a bad name.
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
          "alltoall '%s': splits of %s rows; together they are the %d rows of the input"
              .formatted(name, splits, rows));
    }

    /// With the deadline of the options.
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
