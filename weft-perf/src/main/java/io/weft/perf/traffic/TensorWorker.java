// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.weft.transport.limit.ClampedDuration;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/// One worker of the peer `grpc`. In each step it makes a call for each tensor, pauses for its
/// computation, and makes a call for each gradient. It runs on event loops and on the timer, in
/// turn.
final class TensorWorker {

  private final TrafficPlan plan;
  private final List<? extends Channel> servers;
  private final int worker;
  private final ScheduledExecutorService timer;
  private final MeasuringWindow window;
  private final CaseEnd end;
  private int step;
  private int before = Tensors.NONE;
  private long begun;

  /// @param first number of the worker's first step
  TensorWorker(
      TrafficPlan plan, List<? extends Channel> servers, int worker, int first, TrafficCell cell) {
    this.plan = plan;
    this.servers = servers;
    this.worker = worker;
    this.step = first;
    this.timer = cell.timer();
    this.window = cell.window();
    this.end = cell.end();
  }

  void start() {
    begun = System.nanoTime();
    AtomicInteger left = new AtomicInteger(plan.tensors());
    for (int tensor = 0; tensor < plan.tensors(); tensor++) {
      Tensors.TensorKey key = new Tensors.TensorKey(worker, tensor, step, before);
      call(
          Tensors.FETCH,
          key,
          key.message(),
          answer -> key.isTensor(answer, plan.bytes()),
          () -> {
            if (left.decrementAndGet() == 0) {
              arrived();
            }
          });
    }
  }

  private void arrived() {
    if (plan.compute().isZero()) {
      send();
    } else {
      var unused =
          timer.schedule(this::send, ClampedDuration.nanos(plan.compute()), TimeUnit.NANOSECONDS);
    }
  }

  private void send() {
    long now = System.nanoTime();
    boolean last = window.isOver(now) || end.isWrong();
    window.record(begun, now);
    AtomicInteger left = new AtomicInteger(plan.tensors());
    for (int tensor = 0; tensor < plan.tensors(); tensor++) {
      Tensors.TensorKey key = new Tensors.TensorKey(worker, tensor, step, before);
      call(
          Tensors.BRING,
          key,
          key.messageWith(plan.bytes()),
          answer -> answer.length == 0,
          () -> {
            if (left.decrementAndGet() == 0 && last) {
              end.ended();
            }
          });
    }
    if (!last) {
      before = step;
      step++;
      start();
    }
  }

  private void call(
      MethodDescriptor<byte[], byte[]> method,
      Tensors.TensorKey key,
      byte[] request,
      Predicate<byte[]> right,
      Runnable answered) {
    ClientCall<byte[], byte[]> call =
        servers.get(key.tensor() % servers.size()).newCall(method, CallOptions.DEFAULT);
    call.start(new Answer(right, answered), new Metadata());
    call.request(2); // The message, and the end of the stream.
    call.sendMessage(request);
    call.halfClose();
  }

  /// The listener of one call on an event loop.
  private final class Answer extends ClientCall.Listener<byte[]> {
    private final Predicate<byte[]> right;
    private final Runnable answered;
    private boolean heard;

    Answer(Predicate<byte[]> right, Runnable answered) {
      this.right = right;
      this.answered = answered;
    }

    @Override
    public void onMessage(byte[] message) {
      heard = right.test(message);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (!status.isOk() || !heard) {
        end.wrong(status.isOk() ? "an answer does not match its key" : "a call failed: " + status);
        return;
      }
      answered.run();
    }
  }
}
