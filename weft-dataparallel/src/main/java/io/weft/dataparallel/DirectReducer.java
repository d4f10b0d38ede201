// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.AllreduceRequest;
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
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
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
    List<Optional<NarrowedTensor>> narrowed =
        group.stream().map(each -> Optional.ofNullable(NarrowedTensor.of(each))).toList();
    List<AllreduceRequest> requests = new ArrayList<>(group.size());
    for (int i = 0; i < group.size(); i++) {
      requests.add(group.get(i).asAllreduce(deadline, narrowed.get(i).orElse(null)));
    }
    Handle<List<TensorView>> reduced = communicator.allreduceAll(requests);
    return narrowed.stream().allMatch(Optional::isEmpty) ? reduced : checked(reduced, narrowed);
  }

  /// Returns the handle of a submitted group that contains narrowed tensors. Each tensor has a
  /// separate handle, which checks the result.
  private Handle<List<TensorView>> checked(
      Handle<List<TensorView>> reduced, List<Optional<NarrowedTensor>> narrowed) {
    List<CompletableHandle<TensorView>> parts = new ArrayList<>();
    List<Handle<TensorView>> checked = new ArrayList<>();
    for (Optional<NarrowedTensor> each : narrowed) {
      CompletableHandle<TensorView> part = CompletableHandle.of("a tensor of a group");
      parts.add(part);
      checked.add(checked(part, each.orElse(null)));
    }
    reduced.whenDone(
        (outputs, cause) -> {
          for (int i = 0; i < parts.size(); i++) {
            if (outputs == null) {
              parts.get(i).fail(Objects.requireNonNull(cause));
            } else {
              parts.get(i).complete(outputs.get(i));
            }
          }
        });
    return Reducer.all(checked);
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

  /// Checks all requests before it submits the first one. The handle fails if the communicator then
  /// refuses another request than the first, because earlier requests have been sent.
  @Override
  public <T> Handle<List<T>> submitAll(List<? extends CollectiveRequest<T>> group) {
    Set<String> names = new HashSet<>();
    for (CollectiveRequest<T> request : group) {
      checkRanks(request);
      checkMemory(PendingCollective.of(request, "", 0, LayerSpans.NONE));
      if (!names.add(request.name())) {
        throw new IllegalStateException(
            "a group of %s has two tensors named '%s'; give one of them another name"
                .formatted(self(), request.name()));
      }
    }
    List<Handle<T>> handles = new ArrayList<>(group.size());
    CommException refusal = null;
    for (int i = 0; i < group.size() && refusal == null; i++) {
      try {
        handles.add(submit(group.get(i)));
      } catch (RuntimeException why) {
        if (i == 0) {
          throw why;
        }
        refusal = refused(group.get(i), why);
      }
    }
    return Handles.all(handles, refusal, CollectiveStart::discard);
  }

  private CommException refused(CollectiveRequest<?> request, RuntimeException why) {
    return why instanceof CommException cause
        ? cause
        : new CommException.Broken(
            "'%s' of a group of %s was not submitted, unlike the tensors before it: %s"
                .formatted(request.name(), self(), why.getMessage()),
            members().get(rank()),
            why);
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
  void leave() {
    communicator.close();
  }

  /// Has no effect, because `leave` has closed the communicator.
  @Override
  void close(long endNanos) {}

  @Override
  String self() {
    return "rank " + members().get(rank());
  }

  @Override
  public String describe() {
    return "each tensor by itself, matched by its name, without negotiation: " + why;
  }
}
