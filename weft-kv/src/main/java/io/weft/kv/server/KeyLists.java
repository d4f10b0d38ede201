// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.key.KeyDigest;
import io.weft.kv.table.RowList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The key lists that a shard keeps for one table. The least recently used lists are dropped first.
/// Confined to the shard's thread.
final class KeyLists {

  private final Map<KeyDigest, RowList> lists = new LinkedHashMap<>(16, 0.75f, true);
  private final long mostBytes;
  private long bytes;

  /// @param mostBytes the maximum bytes of all lists together
  KeyLists(long mostBytes) {
    this.mostBytes = mostBytes;
  }

  @Nullable RowList find(KeyDigest digest) {
    return lists.get(digest);
  }

  /// Keeps a list, unless it alone exceeds the maximum.
  void keep(KeyDigest digest, RowList list) {
    if (list.bytes() > mostBytes || lists.containsKey(digest)) {
      return;
    }
    Iterator<RowList> oldest = lists.values().iterator();
    while (bytes + list.bytes() > mostBytes && oldest.hasNext()) {
      bytes -= oldest.next().bytes();
      oldest.remove();
    }
    lists.put(digest, list);
    bytes += list.bytes();
  }
}
