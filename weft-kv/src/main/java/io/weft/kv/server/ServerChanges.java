// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// The server's knowledge of losses and replacements of other servers. Confined to the thread that
/// serves the shards.
///
/// @param lost ranks that are lost
/// @param returned processes that take the place of a lost server, by position in the replica set
record ServerChanges(Set<Integer> lost, Map<Integer, Integer> returned) {

  ServerChanges() {
    this(new TreeSet<>(), new TreeMap<>());
  }
}
