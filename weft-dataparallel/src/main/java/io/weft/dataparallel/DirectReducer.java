// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.comm.CommException;
import io.weft.comm.CompletableHandle;
import io.weft.comm.Handle;
import io.weft.comm.Handles;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/// A reducer that submits each tensor as a separate allreduce, which ranks match by name. Any
/// thread.
final class DirectReducer extends CommunicatorReducer {

  private final String why;
  private final Duration deadline;

  /// @param communicator a communicator that `close` closes; the reducers of `Reducer.direct`
  ///   borrow it and are not closed
  /// @param deadline the deadline of requests without one
  /// @param why the reason, for `describe`
  DirectReducer(Communicator communicator, Duration deadline, String why) {
    super(communicator);
    this.deadline = deadline;
    this.why = why;
  }

  /// Compares the settings with those of the other ranks while the first tensors are in flight. If
  /// they differ, the reducer ends on all ranks.
  ///
  /// @param describe returns a rank of the communicator in words
  void compare(LayerSettings settings, IntFunction<String> describe) {
    settings
        .exchange(communicator)
        .whenDone(
            (sent, cause) -> {
              if (sent != null) {
                try (sent) {
                  settings.compare(sent.view().data(), size(), describe);
                } catch (CommException.Mismatch differ) {
                  communicator.abort(differ);
                }
              }
            });
  }

  private Duration limit(Duration own) {
    return own.isZero() ? deadline : own;
  }

  @Override
  public Handle<TensorView> allreduce(ReductionRequest request) {
    NarrowedTensor narrowed = NarrowedTensor.of(request);
    return checked(communicator.allreduce(request.asAllreduce(deadline, narrowed)), narrowed);
  }

  @Override
  public Handle<List<TensorView>> reduceAll(List<ReductionRequest> group) {
    if (group.stream().anyMatch(each -> NarrowedTensor.of(each) != null)) {
      return narrowedGroup(group);
    }
    return communicator.allreduceAll(
        group.stream().map(each -> each.asAllreduce(deadline, null)).toList());
  }

  /// Reduces a group that contains narrowed tensors. Each tensor has a separate handle, which
  /// checks the result.
  private Handle<List<TensorView>> narrowedGroup(List<ReductionRequest> group) {
    List<Handle<TensorView>> handles = new ArrayList<>(group.size());
    for (ReductionRequest each : group) {
      handles.add(allreduce(each));
    }
    return Reducer.all(handles);
  }

  @Override
  public <T> Handle<T> drive(Supplier<? extends Handle<T>> submission, Duration limit) {
    Handle<T> handle = submission.get();
    progress(handle::isDone, limit);
    return handle;
  }

  @Override
  public <T> Handle<T> submit(CollectiveRequest<T> request) {
    Handle<T> handle = CollectiveStart.submit(communicator, request, limit(request.deadline()));
    if (!CollectiveStart.isScaledAfter(request)) {
      return handle;
    }
    CompletableHandle<T> scaled = CompletableHandle.of("reduceScatter '" + request.name() + "'");
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
    return Handles.all(handles, null, CollectiveStart::discard);
  }

  @Override
  public Handle<Integer> join() {
    if (size() == 1) {
      CompletableHandle<Integer> joined = CompletableHandle.of("join");
      joined.complete(0);
      return joined;
    }
    throw new IllegalStateException(
        "join: ranks do not negotiate, since " + why + "; set fusion to auto, on all ranks");
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
  public Tuning tuning() {
    return communicator.tuning();
  }

  @Override
  void abandon(CommException cause) {
    communicator.abort(cause);
    communicator.close();
  }

  /// Returns true, because operations of this reducer abort only with the communicator.
  @Override
  boolean isAborted() {
    return true;
  }

  @Override
  void close() {
    communicator.close();
  }

  @Override
  public String describe() {
    return "each tensor by itself, matched by its name, without negotiation: " + why;
  }
}
