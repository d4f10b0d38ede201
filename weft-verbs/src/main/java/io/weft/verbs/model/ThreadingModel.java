// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.CompletionChannel;
import io.weft.verbs.device.CompletionQueue;

/// How the queue pairs of one transport share memory and threads, by the numbers of [PSLITE §3.1].
/// In all of them they share one completion queue for sends and one for receives, and each has a
/// receive ring of its own.
public enum ThreadingModel {
  /// Model 1: one send buffer for all; whoever turns the transport polls.
  SHARED_BUFFER(1),
  /// Model 2: the same, and a thread of its own polls the completion queues.
  POLLING_THREAD(2),
  /// Model 3: a send buffer for each; whoever turns the transport, which is mostly the progress
  /// thread, polls.
  OWN_BUFFERS(3);

  private final int number;

  ThreadingModel(int number) {
    this.number = number;
  }

  /// The model with this number, 1 to 3.
  public static ThreadingModel of(int number) {
    for (ThreadingModel model : values()) {
      if (model.number == number) {
        return model;
      }
    }
    throw new IllegalArgumentException("model " + number + " of verbs, there are 1 to 3");
  }

  /// Its number.
  public int number() {
    return number;
  }

  /// Whether all queue pairs build their frames in one buffer.
  public boolean sharesSendBuffer() {
    return this != OWN_BUFFERS;
  }

  /// Begins to poll these queues, which ring at this channel and stay those of whoever opened them.
  public Polling polling(
      CompletionChannel channel, CompletionQueue sends, CompletionQueue receives) {
    return this == POLLING_THREAD
        ? PollingThread.start(channel, sends, receives)
        : new PollingCaller(channel, sends, receives);
  }
}
