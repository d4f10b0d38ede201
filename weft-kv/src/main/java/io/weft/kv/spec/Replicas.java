// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/// Which servers have a shard. The servers are a ring; a shard has its place in it, and lies on the
/// first servers from there on that are not lost: the first of them serves it, the second mirrors
/// it. Where another process has taken the place of one that was lost, the ring has a later
/// version. Pure; who knows of the same losses and version finds the same servers.
///
/// @param version how often a server was replaced
/// @param servers their ranks, in the order of the ring
/// @param copies 1, or 2 with mirrors
public record Replicas(int version, List<Integer> servers, int copies) {

  /// Nobody.
  public static final int NONE = -1;

  /// Copies what could change.
  public Replicas {
    servers = List.copyOf(servers);
  }

  /// Of the servers that a job begins with.
  public Replicas(List<Integer> servers, int copies) {
    this(0, servers, copies);
  }

  /// Whether shards have mirrors.
  public boolean isMirrored() {
    return copies > 1;
  }

  /// Rank of the server that serves a shard; `NONE` if all are lost. Without mirrors it is always
  /// the same.
  public int primary(int shard, Collection<Integer> lost) {
    Objects.requireNonNull(lost, "lost");
    return isMirrored() ? alive(shard, 0, lost) : servers.get(shard % servers.size());
  }

  /// Rank of the server that mirrors a shard; `NONE` if there is none.
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

  /// The next version, with another process in a server's place.
  public Replicas replaced(int position, int rank) {
    List<Integer> next = new ArrayList<>(servers);
    next.set(position, rank);
    return new Replicas(version + 1, next, copies);
  }

  /// Itself, for `after`: version, number of servers, and `POSITION:RANK` of each whose rank is not
  /// its position.
  public String text() {
    var text = new StringBuilder(version + " " + servers.size());
    for (int i = 0; i < servers.size(); i++) {
      if (servers.get(i) != i) {
        text.append(' ').append(i).append(':').append(servers.get(i));
      }
    }
    return text.toString();
  }

  /// The same, and `-RANK` of each of its servers that is lost.
  public String text(Collection<Integer> lost) {
    var text = new StringBuilder(text());
    servers.stream().filter(lost::contains).forEach(rank -> text.append(" -").append(rank));
    return text.toString();
  }

  /// What `text` of another version of this ring was, whoever of it is lost. Throws
  /// `IllegalArgumentException` with what is wrong.
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
      throw new IllegalArgumentException("'" + text + "' is no ring of servers", wrong);
    }
    throw new IllegalArgumentException(
        "'%s' is no ring of %d different servers; all ranks need the same options"
            .formatted(text, servers.size()));
  }

  /// Which of its servers are lost, of what `text` wrote. Throws `IllegalArgumentException` with
  /// what is wrong.
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
