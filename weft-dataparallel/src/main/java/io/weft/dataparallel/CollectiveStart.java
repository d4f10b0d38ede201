// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.comm.Handle;
import io.weft.dataparallel.CollectiveRequest.Allgather;
import io.weft.dataparallel.CollectiveRequest.Alltoall;
import io.weft.dataparallel.CollectiveRequest.Broadcast;
import io.weft.dataparallel.CollectiveRequest.ReduceScatter;
import io.weft.dataparallel.frame.Collective;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import java.lang.foreign.Arena;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Submits requests to a communicator and computes their signatures. Any thread.
final class CollectiveStart {

  private CollectiveStart() {}

  /// Submits the request. After it has succeeded, the caller must call `finish`.
  ///
  /// @param limit the communicator's deadline; zero = its default
  static <T> Handle<T> submit(
      Communicator communicator, CollectiveRequest<T> request, Duration limit) {
    CollectiveOptions options = CollectiveOptions.named(request.name()).within(limit);
    Handle<?> handle =
        switch (request) {
          case Allgather(var name, var input, var deadline) ->
              communicator.allgather(input, options);
          case ReduceScatter scatter ->
              communicator.reduceScatter(
                  scaled(scatter), scatter.output(), scatter.op(), options.inFixedOrder());
          case Broadcast(var name, var tensor, int root, var deadline) ->
              communicator.broadcast(tensor, root, options);
          case Alltoall(var name, var input, var splits, var deadline) ->
              communicator.alltoall(input, splits, options);
          case TuneRequest(Tuning next) -> communicator.tune(next);
        };
    @SuppressWarnings("unchecked") // each record names the type of its handle
    Handle<T> typed = (Handle<T>) handle;
    return typed;
  }

  /// Returns the tensor to combine: a scaled copy of the input, or the input if it is not scaled.
  private static TensorView scaled(ReduceScatter request) {
    if (request.prescale() == 1) {
      return request.input();
    }
    TensorView input = request.input();
    TensorView copy = memory(input);
    Kernels.scale(input, copy, request.prescale());
    return copy;
  }

  static TensorView memory(TensorView like) {
    return new TensorView(like.dtype(), like.shape(), Arena.ofAuto().allocate(like.bytes(), 64));
  }

  /// Returns true if `finish` scales the result.
  static boolean isScaledAfter(CollectiveRequest<?> request) {
    return request instanceof ReduceScatter scatter && scatter.postscale() != 1;
  }

  /// Scales the result.
  static void finish(CollectiveRequest<?> request) {
    if (request instanceof ReduceScatter scatter && scatter.postscale() != 1) {
      Kernels.scale(scatter.output(), scatter.output(), scatter.postscale());
    }
  }

  /// Closes a result that no caller takes.
  static void discard(@Nullable Object result) {
    if (result instanceof TensorLease lease) {
      lease.close();
    } else if (result instanceof Communicator.Received received) {
      received.tensor().close();
    }
  }

  static TensorSignature signature(CollectiveRequest<?> request, String group, int groupSize) {
    TensorView in = request.input();
    return switch (request) {
      case Allgather gather ->
          of(Collective.ALLGATHER, 0, in, in.shape().withFirst(0), group, groupSize);
      case ReduceScatter scatter ->
          new TensorSignature(
              Collective.REDUCE_SCATTER,
              0,
              in.dtype(),
              in.shape(),
              scatter.op(),
              new TensorSignature.Scaling(scatter.prescale(), scatter.postscale()),
              0,
              new TensorSignature.Group(group, groupSize));
      case Broadcast broadcast ->
          of(Collective.BROADCAST, broadcast.root(), in, in.shape(), group, groupSize);
      case Alltoall alltoall ->
          of(Collective.ALLTOALL, 0, in, in.shape().withFirst(0), group, groupSize);
      case TuneRequest tune -> of(Collective.TUNE, 0, in, tune.sizes(), group, groupSize);
    };
  }

  private static TensorSignature of(
      Collective collective, int root, TensorView input, Shape shape, String group, int size) {
    return new TensorSignature(
        collective,
        root,
        input.dtype(),
        shape,
        ReduceOp.SUM,
        TensorSignature.Scaling.NONE,
        0,
        new TensorSignature.Group(group, size));
  }
}
