// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.comm.CommException;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.transfer.ReceivePlan;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tensorflow.Result;
import org.tensorflow.Tensor;

/// Another rank's session on this task: its part, and the steps that it requests, which run in turn
/// on a separate thread.
final class RemoteSession {

  private final HostedPart part;
  private final TensorNames names;
  private final Rendezvous rendezvous;
  private final Consumer<ControlMessage> client;
  private final ExecutorService thread;
  private final Map<Integer, PartCall> calls = new ConcurrentHashMap<>();
  private volatile long step = -1;
  private volatile boolean gone;

  /// @param client the receiver of answers
  /// @param thread runs only this session's steps and ends with the session
  RemoteSession(
      HostedPart part,
      TensorNames names,
      Rendezvous rendezvous,
      Consumer<ControlMessage> client,
      ExecutorService thread) {
    this.part = part;
    this.names = names;
    this.rendezvous = rendezvous;
    this.client = client;
    this.thread = thread;
  }

  HostedPart part() {
    return part;
  }

  /// Registers a call. Runs on the progress thread.
  void prepare(ControlMessage.Prepare prepare) {
    calls.put(
        prepare.call(),
        new PartCall(prepare.names(), new ReceivePlan(part.part(), prepare.together())));
  }

  /// Schedules a step. Runs on the progress thread.
  void run(ControlMessage.Run run) {
    long deadline = StepDeadlines.in(Duration.ofNanos(run.nanos()));
    try {
      thread.execute(() -> serve(run, deadline));
    } catch (RejectedExecutionException e) {
      // The session has ended, and its client knows or learns of that.
      gone = true;
    }
  }

  /// Ends the session after its client was lost or dropped the part. Runs on any thread.
  void leave(String why) {
    gone = true;
    long last = step;
    if (last >= 0) {
      rendezvous.abort(last, why);
      rendezvous.end(last);
    }
    thread.shutdown();
  }

  private void serve(ControlMessage.Run run, long deadline) {
    step = run.ticket();
    if (gone) {
      return;
    }
    Failure failure = null;
    try {
      serve(run.ticket(), call(run.call()), deadline);
    } catch (CommException e) {
      failure = failure(e, e, deadline);
    } catch (RuntimeException e) {
      failure = failure(e, part.part().failure(), deadline);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure = new Failure(StepException.Reason.FAILED, names.server(), false, "interrupted");
    }
    if (failure == null) {
      client.accept(new ControlMessage.Done(run.ticket()));
    } else {
      rendezvous.abort(run.ticket(), failure.text());
      client.accept(new ControlMessage.Failed(run.ticket(), failure));
    }
  }

  private Failure failure(RuntimeException e, @Nullable CommException received, long deadline) {
    return Failure.of(e, received, names.server(), StepDeadlines.isOver(deadline));
  }

  private PartCall call(int number) {
    PartCall call = calls.get(number);
    if (call == null) {
      throw new IllegalStateException("call " + number + " was not prepared");
    }
    return call;
  }

  private void serve(long number, PartCall call, long deadline) throws InterruptedException {
    Map<String, Tensor> feeds = new HashMap<>();
    try {
      feed(number, call.names(), deadline, feeds);
      publish(
          part.run(call, number, deadline, feeds), names.fetches(call.names().fetches(), number));
    } finally {
      feeds.values().forEach(Tensor::close);
    }
  }

  private void feed(long number, GraphCall call, long deadline, Map<String, Tensor> feeds)
      throws InterruptedException {
    List<RendezvousKey> keys = names.feeds(call.feeds(), number);
    if (keys.isEmpty()) {
      return;
    }
    try (var arriving = new Gathering(rendezvous, keys, StepDeadlines.left(deadline))) {
      arriving.await();
      for (int i = 0; i < keys.size(); i++) {
        feeds.put(call.feeds().get(i), TensorViews.copyOf(arriving.tensor(i).view()));
      }
    }
  }

  /// Publishes the fetches, whose tensors TensorFlow keeps until the client has all or gives up.
  private void publish(Result result, List<RendezvousKey> keys) {
    if (keys.isEmpty()) {
      result.close();
      return;
    }
    var held = new AtomicInteger(keys.size());
    Runnable release =
        () -> {
          if (held.decrementAndGet() == 0) {
            result.close();
          }
        };
    RuntimeException refused = null;
    for (int i = 0; i < keys.size(); i++) {
      try {
        rendezvous.publish(keys.get(i), TensorViews.of(result.get(i)), release);
      } catch (RuntimeException e) {
        refused = refused == null ? e : refused;
        release.run();
      }
    }
    if (refused != null) {
      throw refused;
    }
  }
}
