// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.CompletionQueue;
import io.weft.verbs.device.Completions;
import org.jspecify.annotations.Nullable;

/// A bounded queue of completions from a thread that polls a completion queue to another thread, in
/// order. While it is full, completions remain in the completion queue.
final class CompletionRelay implements Completions {

  private static final int PLACES = 1 << 12;
  private static final int MASK = PLACES - 1;

  private final CompletionQueue queue;
  private final long[] ids = new long[PLACES];
  private final int[] queuePairs = new int[PLACES];
  private final int[] immediates = new int[PLACES];
  // Null if the request succeeded.
  private final @Nullable String[] failures = new @Nullable String[PLACES];
  // Written by the polling thread, read by the consumer: earlier entries can be consumed.
  private volatile long filled;
  // Written by the consumer, read by the polling thread: earlier entries may be overwritten.
  private volatile long taken;
  private volatile @Nullable RuntimeException failure;
  // The batch that the consumer is reading.
  private long first;
  private int count;

  CompletionRelay(CompletionQueue queue) {
    this.queue = queue;
  }

  // Methods of the polling thread.

  /// Returns whether there is not enough room for a batch.
  boolean isFull() {
    return PLACES - (filled - taken) < CompletionQueue.BATCH;
  }

  /// Polls the completion queue and passes completions on; returns their count. Not allowed while
  /// `isFull`.
  ///
  /// Hot path.
  int fill() {
    int polled = queue.poll();
    long next = filled;
    for (int i = 0; i < polled; i++) {
      int at = (int) next++ & MASK;
      ids[at] = queue.id(i);
      queuePairs[at] = queue.queuePair(i);
      immediates[at] = queue.immediate(i);
      failures[at] = queue.succeeded(i) ? null : queue.words(i);
    }
    if (polled > 0) {
      // Publishes the arrays to readers of `filled`.
      filled = next;
    }
    return polled;
  }

  void arm() {
    queue.arm();
  }

  /// Ends the queue; the consumer's next poll throws the exception.
  void fail(RuntimeException why) {
    failure = why;
  }

  // Methods of the consumer.

  @Override
  public int poll() {
    RuntimeException ended = failure;
    if (ended != null) {
      throw ended;
    }
    if (count > 0) {
      first += count;
      // The polling thread reads this and overwrites only consumed entries.
      taken = first;
    }
    count = (int) Math.min(filled - first, CompletionQueue.BATCH);
    return count;
  }

  private int at(int place) {
    return (int) (first + place) & MASK;
  }

  @Override
  public long id(int place) {
    return ids[at(place)];
  }

  @Override
  public int queuePair(int place) {
    return queuePairs[at(place)];
  }

  @Override
  public boolean succeeded(int place) {
    return failures[at(place)] == null;
  }

  @Override
  public int immediate(int place) {
    return immediates[at(place)];
  }

  @Override
  public String words(int place) {
    return String.valueOf(failures[at(place)]);
  }
}
