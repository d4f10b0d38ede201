// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.CompletionChannel;
import io.weft.verbs.device.CompletionQueue;
import io.weft.verbs.device.Completions;
import io.weft.verbs.ffm.Descriptors;
import java.time.Duration;

/// Polls both completion queues on a separate thread, which passes completions on. The thread
/// yields at first when idle, then waits on the channel.
final class PollingThread implements Polling {

  private static final int YIELDS = 200;
  private static final long MAX_SLEEP_NANOS = 10_000_000;
  private static final Duration END_LIMIT = Duration.ofSeconds(10);

  private final CompletionChannel channel;
  private final CompletionRelay sends;
  private final CompletionRelay receives;
  // Waits of the polling thread use `descriptors`, and those of the consumer use `bell`.
  private final Descriptors descriptors;
  private final Descriptors bell = new Descriptors();
  private final Thread thread;
  // Written by the consumer before it looks for completions, and read by the polling thread after
  // it has passed completions on. Both are volatile, so that one of the threads sees the other's
  // write.
  private volatile boolean isWaiting;
  private volatile boolean isEnding;

  private PollingThread(
      CompletionChannel channel, CompletionQueue sends, CompletionQueue receives) {
    this.channel = channel;
    this.sends = new CompletionRelay(sends);
    this.receives = new CompletionRelay(receives);
    descriptors = new Descriptors(channel.descriptor());
    thread = Thread.ofPlatform().name("weft-verbs-poll").daemon().unstarted(this::run);
  }

  static PollingThread start(
      CompletionChannel channel, CompletionQueue sends, CompletionQueue receives) {
    PollingThread polling = new PollingThread(channel, sends, receives);
    polling.thread.start();
    return polling;
  }

  // Methods of the polling thread.

  private void run() {
    try {
      int idle = 0;
      while (!isEnding) {
        if (handOver() > 0) {
          idle = 0;
        } else if (++idle < YIELDS) {
          Thread.yield();
        } else {
          sleep();
        }
      }
    } catch (RuntimeException e) {
      sends.fail(e);
      bell.ring();
    }
  }

  /// Passes completions on and returns their count, or 1 if a queue is full.
  private int handOver() {
    if (sends.isFull() || receives.isFull()) {
      Thread.yield();
      return 1;
    }
    int work = sends.fill() + receives.fill();
    if (work > 0 && isWaiting) {
      bell.ring();
    }
    return work;
  }

  private void sleep() {
    sends.arm();
    receives.arm();
    // Completions before the arming do not notify the channel.
    if (handOver() == 0) {
      descriptors.await(MAX_SLEEP_NANOS);
    }
    int unused = channel.drain();
  }

  // Methods of the consumer.

  @Override
  public Completions sends() {
    return sends;
  }

  @Override
  public Completions receives() {
    return receives;
  }

  @Override
  public void prepare() {
    isWaiting = true;
  }

  @Override
  public void await(long maxNanos) {
    bell.await(maxNanos);
  }

  @Override
  public void resume() {
    isWaiting = false;
  }

  @Override
  public void wake() {
    bell.ring();
  }

  @Override
  public void close() {
    isEnding = true;
    descriptors.ring();
    if (!ended()) {
      throw new IllegalStateException(
          "the thread that polls RDMA completions has not ended in "
              + END_LIMIT.toSeconds()
              + " s");
    }
    descriptors.close();
    bell.close();
  }

  /// Waits for the thread even if interrupted, because the queues must not be closed while it polls
  /// them.
  private boolean ended() {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return thread.join(END_LIMIT);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
