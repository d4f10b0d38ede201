// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import java.util.TreeMap;

/// The numbers of a worker's pushes to one shard. Any thread.
final class PushNumbers {

  /// The tables of the pushes that have not completed, by number.
  private final TreeMap<Long, Long> open = new TreeMap<>();

  private long last;

  /// Returns the number of the next push, from 1. The push is to this table.
  synchronized long next(long table) {
    last++;
    open.put(last, table);
    return last;
  }

  /// Returns the number of the last push; 0 = there was none.
  synchronized long last() {
    return last;
  }

  /// Records that a push has completed or failed, and will not be sent again.
  synchronized void over(long number) {
    open.remove(number);
  }

  /// Returns whether all pushes to this table up to this number have completed or failed.
  synchronized boolean areOver(long table, long number) {
    return !open.headMap(number, true).containsValue(table);
  }

  /// Returns the number below which all pushes have completed or failed.
  synchronized long settled() {
    return open.isEmpty() ? last + 1 : open.firstKey();
  }
}
