// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// What a server has heard of others. Confined to the thread that turns the shards.
///
/// @param lost ranks that are lost
/// @param returned processes that take the place of one that was lost, by place in the ring
record ServerNews(Set<Integer> lost, Map<Integer, Integer> returned) {

  /// Nothing.
  ServerNews() {
    this(new TreeSet<>(), new TreeMap<>());
  }
}
