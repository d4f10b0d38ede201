// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;

/// Each tensor as an allreduce of its own, which ranks match by its name. Any thread.
final class DirectReducer implements Reducer {

  private final Communicator communicator;
  private final ObjectExchange objects;
  private final String why;

  /// @param why the reason, for `describe`
  DirectReducer(Communicator communicator, String why) {
    this.communicator = communicator;
    this.objects = new ObjectExchange(communicator);
    this.why = why;
  }

  @Override
  public int rank() {
    return communicator.rank();
  }

  @Override
  public int size() {
    return communicator.size();
  }

  @Override
  public Handle<TensorView> allreduce(ReductionRequest request) {
    return communicator.allreduce(request.asAllreduce());
  }

  @Override
  public Handle<List<TensorView>> reduceAll(List<ReductionRequest> group) {
    return communicator.allreduceAll(group.stream().map(ReductionRequest::asAllreduce).toList());
  }

  @Override
  public Handle<Integer> join() {
    if (size() == 1) {
      ReductionHandle<Integer> joined = new ReductionHandle<>("join", LayerSpans.NONE);
      joined.complete(0);
      return joined;
    }
    throw new IllegalStateException(
        "join: ranks do not negotiate, since " + why + "; set fusion to on, on all ranks");
  }

  @Override
  public void barrier(Duration limit) throws InterruptedException {
    var unused =
        communicator.barrier(CollectiveOptions.named("weft/barrier").within(limit)).await();
  }

  @Override
  public <T> T broadcastObject(String name, T value, ObjectCodec<T> codec, int root)
      throws InterruptedException {
    return objects.broadcast(name, value, codec, root);
  }

  @Override
  public <T> List<T> allgatherObject(String name, T value, ObjectCodec<T> codec)
      throws InterruptedException {
    return objects.allgather(name, value, codec);
  }

  @Override
  public long fusionThreshold() {
    return 0;
  }

  @Override
  public void fusionThreshold(long bytes) {}

  @Override
  public String describe() {
    return "each tensor by itself, matched by its name, without negotiation: " + why;
  }
}
