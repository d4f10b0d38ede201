// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.IntStream;

/// The ranks of each host, in order, and the hosts in the order of their numbers. Immutable.
///
/// @param hosts each with at least one rank
record Placement(List<List<Integer>> hosts) {

  /// Returns where ranks lie of which rank r lies on host `hostOf.get(r)`; any numbers.
  static Placement of(List<Integer> hostOf) {
    var groups = new TreeMap<Integer, List<Integer>>();
    for (int rank = 0; rank < hostOf.size(); rank++) {
      groups.computeIfAbsent(hostOf.get(rank), _ -> new ArrayList<>()).add(rank);
    }
    return new Placement(groups.values().stream().map(List::copyOf).toList());
  }

  /// Returns so many ranks on one host.
  static Placement onOneHost(int size) {
    return new Placement(List.of(IntStream.range(0, size).boxed().toList()));
  }

  /// Returns the number of the host of a rank.
  int hostOf(int rank) {
    int host = 0;
    while (!hosts.get(host).contains(rank)) {
      host++;
    }
    return host;
  }

  /// Returns how many ranks the host with the fewest has.
  int fewest() {
    return hosts.stream().mapToInt(List::size).min().orElse(1);
  }
}
