// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.agent.AgentRunner;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.CompletableHandle;
import io.weft.comm.Handle;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.TensorRequests;
import io.weft.kv.worker.TensorRequests.Travel;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The first of two levels of communication for a dense tensor: the workers of a host sum their
/// pushes. The lowest of them, the leader, pushes the sum, pulls the values and broadcasts them
/// [PSLITE §2.2]. No call waits for another worker. All workers of the host must make the same
/// calls in the same order. If the servers refuse or fail a request of the leader, it aborts the
/// host's communicator, because the other workers would wait for it. Any thread.
final class HostLevel {

  private final Weft weft;
  private final Communicator host;
  private final TableSpec spec;
  private final Shape shape;
  private final @Nullable TensorRequests servers;

  /// Is done when the leader has submitted the last push, which a pull must follow. Guarded by
  /// this.
  private CompletableHandle<Void> submitted;

  /// @param host the communicator of the host's workers
  /// @param servers null if another worker of the host is the leader
  HostLevel(Weft weft, Communicator host, TableSpec spec, @Nullable TensorRequests servers) {
    this.weft = weft;
    this.host = host;
    this.spec = spec;
    this.shape = Shape.of(spec.width());
    this.servers = servers;
    var start = new Step("start");
    start.end(null);
    this.submitted = start;
  }

  /// An operation of several steps. A step begins when the previous one is done.
  private final class Step extends CompletableHandle<Void> {
    private final String name;

    Step(String name) {
      this.name = name;
    }

    @Override
    protected String description() {
      return "%s of tensor '%s' on rank %d".formatted(name, spec.name(), weft.rank());
    }

    @Override
    protected AgentRunner runner() {
      return weft.channel().runner();
    }

    /// Ends with the outcome of the last step.
    void end(@Nullable CommException failure) {
      var unused = failure == null ? complete(null) : fail(failure);
    }

    /// Ends with the failure of the leader, and notifies the other workers of the host.
    void lead(Throwable failure) {
      CommException cause = failureOf(failure, weft.rank());
      host.abort(cause);
      var unused = fail(cause);
    }
  }

  /// A request of the leader.
  private interface Request {
    Handle<Void> begin(TensorRequests servers) throws InterruptedException;
  }

  /// Begins a request of the leader. If it succeeds, `then` runs; otherwise `step` fails.
  private static void begin(Step step, TensorRequests to, Request request, Runnable then) {
    try {
      request
          .begin(to)
          .whenDone(
              (nothing, failure) -> {
                if (failure == null) {
                  next(step, then);
                } else {
                  step.lead(failure);
                }
              });
    } catch (InterruptedException | RuntimeException | Error refused) {
      step.lead(refused);
    }
  }

  /// Runs `then`, which submits the next operation of `step`.
  private static void next(Step step, Runnable then) {
    try {
      then.run();
    } catch (RuntimeException | Error refused) {
      step.lead(refused);
    }
  }

  private CollectiveOptions named(String step) {
    return CollectiveOptions.named("kv/" + step + "/" + spec.name());
  }

  /// Sets the first values; done on each worker when the servers have them.
  ///
  /// @param values empty unless this worker is the lowest of all hosts
  Handle<Void> init(MemorySegment values) {
    var step = new Step("init");
    Runnable last =
        () -> host.barrier(named("init")).whenDone((nothing, failure) -> step.end(failure));
    if (servers == null) {
      last.run();
    } else {
      begin(step, servers, to -> to.init(values), last);
    }
    return step;
  }

  /// Pushes, pulls or both, as `TensorRequests.send`. Throws `IllegalArgumentException` for another
  /// format than FLOAT32 and for memory on the heap.
  Handle<Void> send(@Nullable MemorySegment values, @Nullable MemorySegment into, Travel travel) {
    if (travel.format() != Values.FLOAT32) {
      throw new IllegalArgumentException(
          "tensor '%s': %s, but the workers of a host sum FLOAT32 before a push; use FLOAT32 or Levels.ONE"
              .formatted(spec.name(), travel.format()));
    }
    if (values == null) {
      return pull(Objects.requireNonNull(into, "into"), travel);
    }
    return into == null ? push(values, travel) : pushPull(values, into, travel);
  }

  /// Pushes the sum of the host's values; done on the leader when the servers have received it, on
  /// the other workers when the host has its sum.
  private Handle<Void> push(MemorySegment values, Travel travel) {
    var step = new Step("push");
    var sent = new Step("push");
    var mine = new TensorView(DType.FLOAT32, shape, values);
    TensorLease sum = weft.allocate(DType.FLOAT32, shape);
    Handle<TensorView> summed;
    try {
      summed = host.allreduce(mine, sum.view(), ReduceOp.SUM, named("push"));
    } catch (RuntimeException | Error refused) {
      sum.close();
      throw refused;
    }
    step.whenDone((nothing, failure) -> sum.close());
    synchronized (this) {
      submitted = sent;
    }
    summed.whenDone(
        (view, failure) -> {
          if (failure != null || servers == null) {
            step.end(failure);
          } else {
            begin(
                step,
                servers,
                to -> to.send(KvOp.PUSH, sum.view().data(), null, travel),
                () -> step.end(null));
          }
          sent.end(failure);
        });
    return step;
  }

  /// Pulls the values, which contain the pushes before; done when this worker has them.
  private Handle<Void> pull(MemorySegment into, Travel travel) {
    var step = new Step("pull");
    var view = new TensorView(DType.FLOAT32, shape, into);
    Runnable last =
        () ->
            host.broadcast(view, 0, named("pull")).whenDone((given, failure) -> step.end(failure));
    TensorRequests leading = servers;
    if (leading == null) {
      last.run();
      return step;
    }
    CompletableHandle<Void> before;
    synchronized (this) {
      before = submitted;
    }
    before.whenDone(
        (nothing, failure) -> {
          if (failure != null) {
            step.end(failure);
          } else {
            begin(step, leading, to -> to.send(KvOp.PULL, null, into, travel), last);
          }
        });
    return step;
  }

  /// Pushes the sum of the host's values and pulls the values that result; both may be the same
  /// memory.
  private Handle<Void> pushPull(MemorySegment values, MemorySegment into, Travel travel) {
    var step = new Step("push and pull");
    push(values, travel)
        .whenDone(
            (nothing, failure) -> {
              if (failure == null) {
                next(step, () -> pull(into, travel).whenDone((done, wrong) -> step.end(wrong)));
              } else {
                step.end(failure);
              }
            });
    return step;
  }
}
