// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

import java.util.Collection;
import java.util.List;

/// Which servers have a shard. The servers are a ring; a shard has its place in it, and lies on the
/// first servers from there on that are not lost: the first of them serves it, the second mirrors
/// it. Pure; who knows of the same losses finds the same servers.
///
/// @param servers their ranks
/// @param copies 1, or 2 with mirrors
public record Replicas(List<Integer> servers, int copies) {

  /// Nobody.
  public static final int NONE = -1;

  /// Copies what could change.
  public Replicas {
    servers = List.copyOf(servers);
  }

  /// Whether shards have mirrors.
  public boolean isMirrored() {
    return copies > 1;
  }

  /// Rank of the server that serves a shard; `NONE` if all are lost. Without mirrors it is always
  /// the same.
  public int primary(int shard, Collection<Integer> lost) {
    return isMirrored() ? alive(shard, 0, lost) : servers.get(shard % servers.size());
  }

  /// Rank of the server that mirrors a shard; `NONE` if there is none.
  public int mirror(int shard, Collection<Integer> lost) {
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
}
