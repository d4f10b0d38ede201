// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.CompletionChannel;
import io.weft.verbs.device.CompletionQueue;
import io.weft.verbs.ffm.Descriptors;
import java.time.Duration;

/// A thread of its own polls both completion queues and hands over what has finished. It yields
/// while there may be more, then waits at their channel.
final class PollingThread implements Polling {

  private static final int YIELDS = 200;
  private static final long MAX_SLEEP_NANOS = 10_000_000;
  private static final Duration END_LIMIT = Duration.ofSeconds(10);

  private final CompletionChannel channel;
  private final CompletionRelay sends;
  private final CompletionRelay receives;
  // Where the polling thread waits, and where the other one does.
  private final Descriptors descriptors;
  private final Descriptors bell = new Descriptors();
  private final Thread thread;
  // Written by the other thread before it looks whether something was handed over; read by the
  // polling thread after it has handed something over. Both are volatile, so one of them sees the
  // other.
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

  // The polling thread.

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

  /// How many, at least 1 where there is no room for more.
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
    // What came before they were armed rings for nobody.
    if (handOver() == 0) {
      descriptors.await(MAX_SLEEP_NANOS);
    }
    int unused = channel.drain();
  }

  // The other thread.

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

  /// Also when this thread is interrupted: the queues must not go while they are polled.
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
