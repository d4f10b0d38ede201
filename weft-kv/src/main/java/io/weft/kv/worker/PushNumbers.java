// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import java.util.TreeMap;

/// The numbers of a worker's pushes to one shard. Any thread.
final class PushNumbers {

  /// Tables of those that are not over, by number.
  private final TreeMap<Long, Long> open = new TreeMap<>();

  private long last;

  /// The number of one more push to this table, from 1.
  synchronized long next(long table) {
    last++;
    open.put(last, table);
    return last;
  }

  /// The number of the last push; 0 = there was none.
  synchronized long last() {
    return last;
  }

  /// A push is over, one way or the other: it does not come again.
  synchronized void over(long number) {
    open.remove(number);
  }

  /// Whether all pushes to this table are over, up to this number.
  synchronized boolean areOver(long table, long number) {
    return !open.headMap(number, true).containsValue(table);
  }

  /// All pushes below this number are over.
  synchronized long settled() {
    return open.isEmpty() ? last + 1 : open.firstKey();
  }
}
