// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// The placement of one rank.
///
/// @param rank world rank
/// @param size ranks in the job
/// @param host the host's name
/// @param localRank position on its host
/// @param localSize ranks on its host
/// @param crossRank position of its host among the hosts that have this local rank
/// @param crossSize number of hosts that have this local rank
public record RankPlacement(
    int rank, int size, String host, int localRank, int localSize, int crossRank, int crossSize) {

  /// The name of this host in a placement.
  public static final String HERE = "localhost";

  /// Returns placements of all ranks on this host.
  public static List<RankPlacement> here(int size) {
    return of(size, List.of(new HostSlots(HERE, size)));
  }

  /// Fills the hosts in their order. Throws `IllegalArgumentException` if they have fewer slots.
  public static List<RankPlacement> of(int size, List<HostSlots> hosts) {
    Map<String, Integer> localSize = new HashMap<>();
    var order = new ArrayList<String>();
    for (HostSlots host : hosts) {
      for (int slot = 0; slot < host.slots() && order.size() < size; slot++) {
        order.add(host.name());
        localSize.merge(host.name(), 1, Integer::sum);
      }
    }
    if (order.size() < size) {
      throw new IllegalArgumentException(
          "-np "
              + size
              + " is more than the "
              + order.size()
              + " slots of "
              + hosts.stream()
                  .map(host -> host.name() + ":" + host.slots())
                  .collect(Collectors.joining(",")));
    }
    Map<String, Integer> localNext = new HashMap<>();
    Map<Integer, Integer> crossNext = new HashMap<>();
    var placements = new ArrayList<RankPlacement>();
    for (int rank = 0; rank < size; rank++) {
      String host = order.get(rank);
      int local = localNext.merge(host, 1, Integer::sum) - 1;
      int cross = crossNext.merge(local, 1, Integer::sum) - 1;
      int crossSize = (int) localSize.values().stream().filter(count -> count > local).count();
      placements.add(
          new RankPlacement(
              rank, size, host, local, localSize.getOrDefault(host, 1), cross, crossSize));
    }
    return List.copyOf(placements);
  }

  /// Returns true if the rank runs on this host, without ssh.
  public boolean isHere() {
    return host.equals(HERE);
  }

  /// Returns the variables that tell the rank its placement.
  Map<String, String> variables() {
    return Map.of(
        "WEFT_RANK", Integer.toString(rank),
        "WEFT_SIZE", Integer.toString(size),
        "WEFT_LOCAL_RANK", Integer.toString(localRank),
        "WEFT_LOCAL_SIZE", Integer.toString(localSize),
        "WEFT_CROSS_RANK", Integer.toString(crossRank),
        "WEFT_CROSS_SIZE", Integer.toString(crossSize));
  }
}
