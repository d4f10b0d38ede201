// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.comm.Handle;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.ReductionRequest;
import io.weft.dataparallel.TensorReducer;
import io.weft.dataparallel.compress.Compression;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The reduction options of one op's gradients, from its attributes. One run at a time.
final class GradientTravel {

  private final ReduceOp op;
  private final double predivide;
  private final Compression compression;
  private final int priority;

  /// The compressing reducer of the previous run.
  private volatile @Nullable Compressed last;

  private record Compressed(Reducer below, TensorReducer reducer) {}

  /// @param predivide the divisor of gradients before they are added if they are averaged; 1
  ///   disables it
  /// @param priority among ready gradients, the highest priority is sent first
  GradientTravel(ReduceOp op, double predivide, Compression compression, int priority) {
    this.op = op;
    this.predivide = predivide;
    this.compression = compression;
    this.priority = priority;
  }

  /// Submits one gradient.
  Handle<TensorView> reduce(
      GradientReducer by, int ranks, String name, TensorView input, TensorView output) {
    return switch (by) {
      case TensorReducer tensors ->
          compressed(tensors, name).allreduce(request(name, input, output, ranks));
      case GradientReducer other -> {
        requireMean(name);
        yield other.reduce(name, input, output);
      }
    };
  }

  /// Submits a group, or returns null if the reducer does not support groups.
  @Nullable Handle<List<TensorView>> reduceAll(
      GradientReducer by, int ranks, List<ReductionRequest> group) {
    if (!(by instanceof TensorReducer tensors)) {
      return null;
    }
    return compressed(tensors, group.getFirst().name())
        .reduceAll(
            group.stream()
                .map(each -> request(each.name(), each.input(), each.output(), ranks))
                .toList());
  }

  private ReductionRequest request(String name, TensorView input, TensorView output, int ranks) {
    ReductionRequest request = ReductionRequest.of(name, input, output, op).withPriority(priority);
    return predivide == 1
        ? request
        : request.by(ReduceOp.SUM).scaled(1 / predivide, predivide / ranks);
  }

  private TensorReducer compressed(TensorReducer tensors, String name) {
    if (compression instanceof Compression.None) {
      return tensors;
    }
    if (!(tensors instanceof Reducer below)) {
      throw new IllegalArgumentException(
          "gradient '%s': compression %s goes over reducers of a DataParallel, not over %s"
              .formatted(name, compression, tensors));
    }
    Compressed known = last;
    if (known == null || known.below() != below) {
      known = new Compressed(below, compression.wrap(below));
      last = known;
    }
    return known.reducer();
  }

  private void requireMean(String name) {
    if (op != ReduceOp.AVERAGE || predivide != 1 || !(compression instanceof Compression.None)) {
      throw new IllegalArgumentException(
          ("gradient '%s': this GradientReducer averages as it does; %s, a factor of %s and"
                  + " compression %s need one of a DataParallel")
              .formatted(name, op, predivide, compression));
    }
  }
}
