// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/// The replica set of servers and the placement of shards in it. Each shard has a position in the
/// circular order of the servers. The first server from that position that is not lost is the
/// shard's primary, and the second is its mirror. A replacement of a lost server by another process
/// increments the version. Pure; processes that know the same losses and version compute the same
/// placement.
///
/// @param version the number of replacements
/// @param servers their ranks in circular order
/// @param copies 1, or 2 with mirrors
public record Replicas(int version, List<Integer> servers, int copies) {

  /// The rank that stands for no server.
  public static final int NONE = -1;

  /// Copies the mutable arguments.
  public Replicas {
    servers = List.copyOf(servers);
  }

  /// Creates the initial replica set of a job.
  public Replicas(List<Integer> servers, int copies) {
    this(0, servers, copies);
  }

  /// Returns whether shards have mirrors.
  public boolean isMirrored() {
    return copies > 1;
  }

  /// Returns the rank of a shard's primary, or `NONE` if all servers are lost. Without mirrors the
  /// primary never changes.
  public int primary(int shard, Collection<Integer> lost) {
    Objects.requireNonNull(lost, "lost");
    return isMirrored() ? alive(shard, 0, lost) : servers.get(shard % servers.size());
  }

  /// Returns the rank of a shard's mirror, or `NONE` if there is none.
  public int mirror(int shard, Collection<Integer> lost) {
    Objects.requireNonNull(lost, "lost");
    return isMirrored() ? alive(shard, 1, lost) : NONE;
  }

  private int alive(int shard, int position, Collection<Integer> lost) {
    int found = 0;
    for (int i = 0; i < servers.size(); i++) {
      int rank = servers.get((shard + i) % servers.size());
      if (!lost.contains(rank) && found++ == position) {
        return rank;
      }
    }
    return NONE;
  }

  /// Returns the next version, with another process in a server's position.
  public Replicas replaced(int position, int rank) {
    List<Integer> next = new ArrayList<>(servers);
    next.set(position, rank);
    return new Replicas(version + 1, next, copies);
  }

  /// Returns the text for `after`: version, number of servers, and `POSITION:RANK` of each server
  /// whose rank differs from its position.
  public String text() {
    var text = new StringBuilder(version + " " + servers.size());
    for (int i = 0; i < servers.size(); i++) {
      if (servers.get(i) != i) {
        text.append(' ').append(i).append(':').append(servers.get(i));
      }
    }
    return text.toString();
  }

  /// Returns `text`, followed by `-RANK` of each of its servers that is lost.
  public String text(Collection<Integer> lost) {
    var text = new StringBuilder(text());
    servers.stream().filter(lost::contains).forEach(rank -> text.append(" -").append(rank));
    return text.toString();
  }

  /// Parses a text of `text` into another version of this replica set, without the losses that the
  /// text lists. Throws `IllegalArgumentException` if the text is invalid.
  public Replicas after(String text) {
    List<String> words = List.of(text.split(" ", -1));
    try {
      int count = words.size() < 2 ? -1 : Integer.parseInt(words.get(1));
      List<Integer> ranks = new ArrayList<>();
      for (int i = 0; i < servers.size(); i++) {
        ranks.add(i);
      }
      for (String word : words.subList(Math.min(2, words.size()), words.size())) {
        if (isLost(word)) {
          var unused = rank(word);
          continue;
        }
        int colon = word.indexOf(':');
        ranks.set(
            Integer.parseInt(word.substring(0, colon)),
            Integer.parseInt(word.substring(colon + 1)));
      }
      int its = Integer.parseInt(words.getFirst());
      if (count == servers.size()
          && its >= 0
          && ranks.stream().allMatch(it -> it >= 0)
          && new HashSet<>(ranks).size() == count) {
        return new Replicas(its, ranks, copies);
      }
    } catch (NumberFormatException | IndexOutOfBoundsException wrong) {
      throw new IllegalArgumentException("'" + text + "' is not a replica set", wrong);
    }
    throw new IllegalArgumentException(
        "'%s' is not a replica set of %d different servers; all ranks need the same options"
            .formatted(text, servers.size()));
  }

  /// Returns the lost servers that `text` lists. Throws `IllegalArgumentException` if the text is
  /// invalid.
  public Set<Integer> lost(String text) {
    var unused = after(text);
    Set<Integer> lost = new TreeSet<>();
    for (String word : text.split(" ", -1)) {
      if (isLost(word)) {
        lost.add(rank(word));
      }
    }
    return lost;
  }

  private static boolean isLost(String word) {
    return word.startsWith("-");
  }

  private static int rank(String word) {
    return Integer.parseUnsignedInt(word.substring(1));
  }
}
