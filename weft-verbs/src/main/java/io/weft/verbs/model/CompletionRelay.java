// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.CompletionQueue;
import org.jspecify.annotations.Nullable;

/// Finished work that one thread polls from a completion queue and another one takes, in order.
/// Bounded: while it is full, what finishes stays in the completion queue.
final class CompletionRelay implements Completions {

  private static final int PLACES = 1 << 12;
  private static final int MASK = PLACES - 1;

  private final CompletionQueue queue;
  private final long[] ids = new long[PLACES];
  private final int[] queuePairs = new int[PLACES];
  private final int[] immediates = new int[PLACES];
  // Null where it succeeded.
  private final @Nullable String[] failures = new @Nullable String[PLACES];
  // Written by the polling thread, read by the taking one: what lies before it can be taken.
  private volatile long filled;
  // The other way round: what lies before it may be overwritten.
  private volatile long taken;
  private volatile @Nullable RuntimeException failure;
  // The batch that the taking thread looks at.
  private long first;
  private int count;

  CompletionRelay(CompletionQueue queue) {
    this.queue = queue;
  }

  // The polling thread.

  /// Whether there is no room for a batch now.
  boolean isFull() {
    return PLACES - (filled - taken) < CompletionQueue.BATCH;
  }

  /// Polls the completion queue and hands over what has finished; how many. Not while `isFull`.
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
      // Shows the arrays to who reads `filled`.
      filled = next;
    }
    return polled;
  }

  void arm() {
    queue.arm();
  }

  /// Nothing more will come; whoever takes hears why.
  void fail(RuntimeException why) {
    failure = why;
  }

  // The taking thread.

  @Override
  public int poll() {
    RuntimeException ended = failure;
    if (ended != null) {
      throw ended;
    }
    if (count > 0) {
      first += count;
      // The polling thread, which reads it, overwrites only what was looked at.
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
