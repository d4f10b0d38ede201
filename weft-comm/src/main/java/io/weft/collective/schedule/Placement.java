// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.IntStream;

/// The ranks of each host, in order, and the hosts in the order of their numbers. Immutable.
///
/// @param hosts the ranks of each host, at least one
record Placement(List<List<Integer>> hosts) {

  /// Returns the placement where rank r runs on host `hostOf.get(r)`; any numbers.
  static Placement of(List<Integer> hostOf) {
    var groups = new TreeMap<Integer, List<Integer>>();
    for (int rank = 0; rank < hostOf.size(); rank++) {
      groups.computeIfAbsent(hostOf.get(rank), _ -> new ArrayList<>()).add(rank);
    }
    return new Placement(groups.values().stream().map(List::copyOf).toList());
  }

  /// Returns the placement of this many ranks on one host.
  static Placement onOneHost(int size) {
    return new Placement(List.of(IntStream.range(0, size).boxed().toList()));
  }

  int hostOf(int rank) {
    int host = 0;
    while (!hosts.get(host).contains(rank)) {
      host++;
    }
    return host;
  }

  /// Returns the number of ranks on the smallest host.
  int fewest() {
    return hosts.stream().mapToInt(List::size).min().orElse(1);
  }
}
