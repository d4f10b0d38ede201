// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import java.util.TreeSet;

/// The numbers of a worker's pushes to one shard. Any thread.
final class PushNumbers {

  private final TreeSet<Long> open = new TreeSet<>();
  private long last;

  /// The number of one more push, from 1.
  synchronized long next() {
    last++;
    open.add(last);
    return last;
  }

  /// A push is over, one way or the other: it does not come again.
  synchronized void over(long number) {
    open.remove(number);
  }

  /// All pushes below this number are over.
  synchronized long settled() {
    return open.isEmpty() ? last + 1 : open.first();
  }
}
