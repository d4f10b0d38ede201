// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.CompletionChannel;
import io.weft.verbs.device.CompletionQueue;
import io.weft.verbs.ffm.Descriptors;

/// Polls the completion queues on the transport's polling thread, and waits on their channel.
final class PollingCaller implements Polling {

  private final CompletionChannel channel;
  private final CompletionQueue sendQueue;
  private final CompletionQueue receiveQueue;
  private final Completions sends;
  private final Completions receives;
  private final Descriptors descriptors;

  PollingCaller(CompletionChannel channel, CompletionQueue sends, CompletionQueue receives) {
    this.channel = channel;
    sendQueue = sends;
    receiveQueue = receives;
    this.sends = new Direct(sends);
    this.receives = new Direct(receives);
    descriptors = new Descriptors(channel.descriptor());
  }

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
    sendQueue.arm();
    receiveQueue.arm();
  }

  @Override
  public void await(long maxNanos) {
    descriptors.await(maxNanos);
  }

  @Override
  public void resume() {
    int unused = channel.drain();
  }

  @Override
  public void wake() {
    descriptors.ring();
  }

  @Override
  public void close() {
    descriptors.close();
  }

  private record Direct(CompletionQueue queue) implements Completions {

    @Override
    public int poll() {
      return queue.poll();
    }

    @Override
    public long id(int place) {
      return queue.id(place);
    }

    @Override
    public int queuePair(int place) {
      return queue.queuePair(place);
    }

    @Override
    public boolean succeeded(int place) {
      return queue.succeeded(place);
    }

    @Override
    public int immediate(int place) {
      return queue.immediate(place);
    }

    @Override
    public String words(int place) {
      return queue.words(place);
    }
  }
}
