// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.CommException;
import io.weft.Handle;
import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.util.List;
import java.util.function.Supplier;

/// A communicator that tells a meter when collectives begin and end, and otherwise is the one
/// inside. Thread-safe.
final class MeasuredCommunicator implements Communicator {

  private final Communicator inside;
  private final StepMeter meter;

  MeasuredCommunicator(Communicator inside, StepMeter meter) {
    this.inside = inside;
    this.meter = meter;
  }

  @Override
  public int rank() {
    return inside.rank();
  }

  @Override
  public int size() {
    return inside.size();
  }

  @Override
  public Handle<TensorView> allreduce(AllreduceRequest request) {
    return measured(request.options(), () -> inside.allreduce(request));
  }

  @Override
  public Handle<List<TensorView>> allreduceAll(List<AllreduceRequest> requests) {
    return requests.isEmpty()
        ? inside.allreduceAll(requests)
        : measured(requests.getFirst().options(), () -> inside.allreduceAll(requests));
  }

  @Override
  public Handle<TensorView> reduceScatter(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
    return measured(options, () -> inside.reduceScatter(input, output, op, options));
  }

  @Override
  public Handle<TensorLease> allgather(TensorView input, CollectiveOptions options) {
    return measured(options, () -> inside.allgather(input, options));
  }

  @Override
  public Handle<TensorView> broadcast(TensorView inOut, int root, CollectiveOptions options) {
    return measured(options, () -> inside.broadcast(inOut, root, options));
  }

  @Override
  public Handle<Received> alltoall(TensorView input, List<Long> splits, CollectiveOptions options) {
    return measured(options, () -> inside.alltoall(input, splits, options));
  }

  @Override
  public Handle<Void> barrier(CollectiveOptions options) {
    return measured(options, () -> inside.barrier(options));
  }

  private <T> Handle<T> measured(CollectiveOptions options, Supplier<Handle<T>> submit) {
    String name = options.name();
    meter.submitted(name);
    try {
      Handle<T> handle = submit.get();
      handle.whenDone((result, failure) -> meter.done(name, failure));
      return handle;
    } catch (CommException e) {
      meter.done(name, e);
      throw e;
    }
  }

  @Override
  public void abort(CommException cause) {
    inside.abort(cause);
  }

  @Override
  public void close() {
    inside.close();
  }
}
