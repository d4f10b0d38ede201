// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.CompletionChannel;
import io.weft.verbs.device.CompletionQueue;

/// The sharing of memory and threads between the queue pairs of one transport, numbered as in
/// [PSLITE §3.1]. In all models they share one completion queue for sends and one for receives, and
/// each has its own receive ring.
public enum ThreadingModel {
  /// Model 1: one send buffer for all; the transport's polling thread polls.
  SHARED_BUFFER(1),
  /// Model 2: one send buffer for all; a separate thread polls the completion queues.
  POLLING_THREAD(2),
  /// Model 3: a send buffer for each; the transport's polling thread, usually the progress thread,
  /// polls.
  OWN_BUFFERS(3);

  private final int number;

  ThreadingModel(int number) {
    this.number = number;
  }

  /// Returns the model with this number, 1 to 3.
  public static ThreadingModel of(int number) {
    for (ThreadingModel model : values()) {
      if (model.number == number) {
        return model;
      }
    }
    throw new IllegalArgumentException("model " + number + " of verbs, there are 1 to 3");
  }

  /// Returns the number of the model.
  public int number() {
    return number;
  }

  /// Returns whether all queue pairs build their frames in one buffer.
  public boolean sharesSendBuffer() {
    return this != OWN_BUFFERS;
  }

  /// Implements `Transport.pollingThreads`.
  public int pollingThreads() {
    return this == POLLING_THREAD ? 2 : 1;
  }

  /// Starts polling these queues, which notify this channel and which the caller continues to own.
  public Polling polling(
      CompletionChannel channel, CompletionQueue sends, CompletionQueue receives) {
    return this == POLLING_THREAD
        ? PollingThread.start(channel, sends, receives)
        : new PollingCaller(channel, sends, receives);
  }
}
