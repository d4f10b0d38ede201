// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.List;
import java.util.stream.IntStream;

/// An ordered set of world ranks. The position of a rank is its rank inside the set.
public record ProcessSet(List<Integer> ranks) {

  /// Throws `IllegalArgumentException` if the list is empty or has a negative or repeated rank.
  public ProcessSet {
    ranks = List.copyOf(ranks);
    if (ranks.isEmpty()) {
      throw new IllegalArgumentException("a process set needs at least one rank");
    }
    if (ranks.stream().distinct().count() != ranks.size() || ranks.stream().anyMatch(r -> r < 0)) {
      throw new IllegalArgumentException(
          "process set " + ranks + " has a negative or repeated rank");
    }
  }

  /// All ranks of a job of this size.
  public static ProcessSet world(int size) {
    return new ProcessSet(IntStream.range(0, size).boxed().toList());
  }

  /// Number of ranks.
  public int size() {
    return ranks.size();
  }

  /// Position of a world rank in this set, -1 if it is not a member.
  public int rankOf(int worldRank) {
    return ranks.indexOf(worldRank);
  }

  /// Formats ascending ranks for people: `1, 3-5`.
  public static String ranges(List<Integer> ranks) {
    var text = new StringBuilder();
    for (int at = 0; at < ranks.size(); at++) {
      int first = at;
      while (at + 1 < ranks.size() && ranks.get(at + 1) == ranks.get(at) + 1) {
        at++;
      }
      text.append(text.isEmpty() ? "" : ", ").append(ranks.get(first));
      if (at > first) {
        text.append('-').append(ranks.get(at));
      }
    }
    return text.toString();
  }
}
