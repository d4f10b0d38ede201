// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/// All connections between two groups of ranks.
///
/// @param from world ranks of one group
/// @param to of the other
/// @param way which of the two directions
public record Links(List<Integer> from, List<Integer> to, LinkDirections way) {

  /// Directions of a connection.
  public enum LinkDirections {
    /// Only what `from` sends to `to`.
    THERE,
    /// Both.
    BOTH
  }

  /// Copies the lists.
  public Links {
    Objects.requireNonNull(way, "way");
    from = List.copyOf(from);
    to = List.copyOf(to);
  }

  /// Whether what `sender` sends to `receiver` is meant.
  boolean covers(int sender, int receiver) {
    boolean there = from.contains(sender) && to.contains(receiver);
    boolean back = from.contains(receiver) && to.contains(sender);
    return there || (way == LinkDirections.BOTH && back);
  }

  /// `0,1-2,3`, or `0>1` for one way.
  @Override
  public String toString() {
    return joined(from) + (way == LinkDirections.BOTH ? "-" : ">") + joined(to);
  }

  private static String joined(List<Integer> ranks) {
    return ranks.stream().map(String::valueOf).collect(Collectors.joining(","));
  }
}
