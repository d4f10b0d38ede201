// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.Channel;
import io.grpc.Status;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// A continuous stream of unary calls. When a call is answered, the event loop starts the next. An
/// object serves one `run`.
final class Requests {
  private static final int LIMIT_MINUTES = 10;

  private final Channel channel;
  private final int bytes;
  private final int batch;
  private final long[] nanos;
  private final long total;
  private final AtomicLong next = new AtomicLong();
  private final CountDownLatch ended = new CountDownLatch(1);

  // Written only by the event loop. Read after `ended` has been counted down.
  private long answered;
  private long begin;
  private boolean right = true;
  private volatile Status failure = Status.OK;

  /// @param batch number of answers in one iteration
  Requests(Channel channel, int bytes, int batch, int iterations) {
    this.channel = channel;
    this.bytes = bytes;
    this.batch = batch;
    nanos = new long[iterations];
    total = (long) iterations * batch;
  }

  /// Keeps `outstanding` calls unanswered until all are answered. Returns the time of each
  /// iteration in nanoseconds. Throws `IllegalStateException` if a call fails.
  long[] run(int outstanding) throws InterruptedException {
    begin = System.nanoTime();
    for (int i = 0; i < outstanding; i++) {
      startNext();
    }
    if (!ended.await(LIMIT_MINUTES, TimeUnit.MINUTES)) {
      throw new IllegalStateException("calls were not answered within " + LIMIT_MINUTES + " min");
    }
    if (!failure.isOk()) {
      throw new IllegalStateException("a call failed: " + failure, failure.getCause());
    }
    return nanos;
  }

  /// Returns whether every answer matched its request.
  boolean isRight() {
    return right;
  }

  private void startNext() {
    long number = next.getAndIncrement();
    if (number < total) {
      UnaryCall.start(
          channel,
          EchoServer.METHOD,
          EchoServer.message(bytes, number, EchoServer.REQUEST),
          (status, answer) -> end(number, status, answer));
    }
  }

  private void end(long number, Status status, byte[] answer) {
    if (!status.isOk()) {
      failure = status;
      ended.countDown();
      return;
    }
    right &= EchoServer.isRight(answer, bytes, number, EchoServer.ANSWER);
    answered++;
    if (answered % batch == 0) {
      long now = System.nanoTime();
      nanos[(int) (answered / batch) - 1] = now - begin;
      begin = now;
    }
    if (answered == total) {
      ended.countDown();
    } else {
      startNext();
    }
  }
}
