// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.comm.Handle;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// Each tensor as an allreduce of its own, which ranks match by its name. Any thread.
final class DirectReducer extends CommunicatorReducer {

  private final String why;

  /// @param why the reason, for `describe`
  DirectReducer(Communicator communicator, String why) {
    super(communicator);
    this.why = why;
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
  public <T> Handle<T> submit(CollectiveRequest<T> request) {
    Handle<T> handle = CollectiveStart.submit(communicator, request, request.deadline());
    if (!CollectiveStart.isScaledAfter(request)) {
      return handle;
    }
    ReductionHandle<T> scaled =
        new ReductionHandle<>("reduceScatter '" + request.name() + "'", LayerSpans.NONE);
    handle.whenDone(
        (result, cause) -> {
          if (result == null) {
            scaled.fail(Objects.requireNonNull(cause));
          } else {
            CollectiveStart.finish(request);
            scaled.complete(result);
          }
        });
    return scaled;
  }

  @Override
  public <T> Handle<List<T>> submitAll(List<? extends CollectiveRequest<T>> group) {
    List<Handle<T>> handles = new ArrayList<>(group.size());
    try {
      for (CollectiveRequest<T> request : group) {
        handles.add(submit(request));
      }
    } catch (RuntimeException refused) {
      handles.forEach(
          handle ->
              handle.whenDone(
                  (result, cause) -> {
                    if (result != null) {
                      CollectiveStart.discard(result);
                    }
                  }));
      throw refused;
    }
    return ReductionHandle.of(
        "group of " + group.size() + " tensors",
        LayerSpans.NONE,
        handles,
        CollectiveStart::discard);
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
  public long fusionThreshold() {
    return 0;
  }

  @Override
  public void fusionThreshold(long bytes) {}

  @Override
  public Handle<?> tune(Tuning next) {
    return communicator.tune(next);
  }

  @Override
  public String describe() {
    return "each tensor by itself, matched by its name, without negotiation: " + why;
  }
}
