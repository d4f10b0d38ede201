// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static java.util.Objects.requireNonNull;

import io.weft.comm.CommException;
import io.weft.dataparallel.CollectiveRequest.Allgather;
import io.weft.dataparallel.CollectiveRequest.Alltoall;
import io.weft.dataparallel.CollectiveRequest.Broadcast;
import io.weft.dataparallel.CollectiveRequest.ReduceScatter;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A collective other than an allreduce, from its submission until its handle is done.
///
/// @param signature the signature on which ranks must agree
/// @param submittedNanos submission time by the timeline's clock; 0 = not recorded
record PendingCollective<T>(
    CollectiveRequest<T> request,
    TensorSignature signature,
    ReductionHandle<T> handle,
    long submittedNanos)
    implements PendingOperation {

  /// @param group name of its group; empty = none
  /// @param groupSize tensors in the group; 0 = none
  static <T> PendingCollective<T> of(
      CollectiveRequest<T> request, String group, int groupSize, LayerSpans spans) {
    TensorSignature signature = CollectiveStart.signature(request, group, groupSize);
    return new PendingCollective<>(
        request,
        signature,
        new ReductionHandle<>(signature.collective() + " '" + request.name() + "'", spans),
        spans.now());
  }

  @Override
  public String name() {
    return request.name();
  }

  @Override
  public Duration deadline() {
    return request.deadline();
  }

  @Override
  public List<TensorView> tensors() {
    return switch (request) {
      case ReduceScatter scatter -> List.of(scatter.input(), scatter.output());
      case Allgather gather -> List.of(gather.input());
      case Alltoall alltoall -> List.of(alltoall.input());
      case Broadcast broadcast -> List.of(broadcast.input());
      case TuneRequest tune -> List.of();
    };
  }

  @Override
  public List<TensorView> written() {
    return switch (request) {
      case ReduceScatter scatter -> List.of(scatter.output());
      case Allgather gather -> List.of();
      case Alltoall alltoall -> List.of();
      case TuneRequest tune -> List.of();
      case Broadcast broadcast -> List.of(broadcast.input());
    };
  }

  void complete(@Nullable Object result) {
    CollectiveStart.finish(request);
    @SuppressWarnings("unchecked") // the communicator's result has the request's type
    T typed = (T) (request instanceof TuneRequest tune ? tune.next() : requireNonNull(result));
    handle.complete(typed);
  }

  @Override
  public void fail(CommException cause) {
    handle.fail(cause);
  }
}
