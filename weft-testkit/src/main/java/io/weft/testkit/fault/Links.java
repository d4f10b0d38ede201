// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/// All connections between two groups of ranks.
///
/// @param from world ranks of one group
/// @param to world ranks of the other
/// @param way one or both directions
public record Links(List<Integer> from, List<Integer> to, LinkDirections way) {

  /// The directions of a connection.
  public enum LinkDirections {
    /// Only from `from` to `to`.
    THERE,
    /// Both directions.
    BOTH
  }

  /// Copies the lists.
  public Links {
    Objects.requireNonNull(way, "way");
    from = List.copyOf(from);
    to = List.copyOf(to);
  }

  /// Returns whether these links include the direction from `sender` to `receiver`.
  boolean covers(int sender, int receiver) {
    boolean there = from.contains(sender) && to.contains(receiver);
    boolean back = from.contains(receiver) && to.contains(sender);
    return there || (way == LinkDirections.BOTH && back);
  }

  /// Returns `0,1-2,3`, or `0>1` for one direction.
  @Override
  public String toString() {
    return joined(from) + (way == LinkDirections.BOTH ? "-" : ">") + joined(to);
  }

  private static String joined(List<Integer> ranks) {
    return ranks.stream().map(String::valueOf).collect(Collectors.joining(","));
  }
}
