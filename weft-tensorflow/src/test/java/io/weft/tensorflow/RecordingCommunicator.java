// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// A communicator that delegates all calls and records which allreduces worked in place.
final class RecordingCommunicator implements Communicator {

  private final Communicator target;
  private final Map<String, Boolean> inPlace = new ConcurrentHashMap<>();

  RecordingCommunicator(Communicator target) {
    this.target = target;
  }

  Map<String, Boolean> inPlace() {
    return inPlace;
  }

  @Override
  public int rank() {
    return target.rank();
  }

  @Override
  public Communicator duplicate(String name) {
    throw new UnsupportedOperationException("duplicate of " + this);
  }

  @Override
  public int size() {
    return target.size();
  }

  @Override
  public Handle<TensorView> allreduce(AllreduceRequest request) {
    remember(request);
    return target.allreduce(request);
  }

  @Override
  public Handle<List<TensorView>> allreduceAll(List<AllreduceRequest> requests) {
    requests.forEach(this::remember);
    return target.allreduceAll(requests);
  }

  private void remember(AllreduceRequest request) {
    long input = request.input().data().address();
    inPlace.put(request.name(), input == request.output().data().address());
  }

  @Override
  public Handle<TensorView> reduceScatter(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
    return target.reduceScatter(input, output, op, options);
  }

  @Override
  public Handle<TensorLease> allgather(TensorView input, CollectiveOptions options) {
    return target.allgather(input, options);
  }

  @Override
  public Handle<TensorView> broadcast(TensorView inOut, int root, CollectiveOptions options) {
    return target.broadcast(inOut, root, options);
  }

  @Override
  public Handle<Received> alltoall(TensorView input, List<Long> splits, CollectiveOptions options) {
    return target.alltoall(input, splits, options);
  }

  @Override
  public Handle<Void> barrier(CollectiveOptions options) {
    return target.barrier(options);
  }

  @Override
  public Tuning tuning() {
    return target.tuning();
  }

  @Override
  public Handle<Void> tune(Tuning next) {
    return target.tune(next);
  }

  @Override
  public void abort(CommException cause) {
    target.abort(cause);
  }

  @Override
  public void close() {
    target.close();
  }
}
