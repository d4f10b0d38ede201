// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.spec.Replicas;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// A shard's replica set as this server knows it, with the lost servers and the processes that are
/// to take their places. Confined to the shard's thread.
final class ReplicaView {

  private final int shard;
  private final ShardContext context;
  private final ReplicasNotice notice;
  private final Set<Integer> lost;

  /// Processes that are to get a place in the replica set, by position.
  private final Map<Integer, Integer> returned;

  private Replicas current;

  /// @param news the known losses and replacements of servers
  ReplicaView(int shard, ShardContext context, ServerChanges news) {
    this.shard = shard;
    this.context = context;
    this.notice = new ReplicasNotice(shard, context);
    this.lost = new TreeSet<>(news.lost());
    this.returned = new TreeMap<>(news.returned());
    this.current = context.mirroring().replicas();
  }

  Replicas current() {
    return current;
  }

  int version() {
    return current.version();
  }

  /// Returns the lost servers.
  Set<Integer> lost() {
    return lost;
  }

  void set(Replicas next) {
    current = next;
  }

  boolean isPrimary() {
    return current.primary(shard, lost) == context.rank();
  }

  /// Returns whether this server has the shard, as primary or mirror.
  boolean has() {
    return isIn(current, context.rank(), lost);
  }

  /// Returns whether the shard was on this server before the first loss. It is then complete here,
  /// because it is empty.
  boolean hadFirst() {
    return isIn(current, context.rank(), Set.of());
  }

  private boolean isIn(Replicas set, int rank, Set<Integer> without) {
    return set.primary(shard, without) == rank || set.mirror(shard, without) == rank;
  }

  /// Returns whether a process has the shard in another replica set.
  boolean has(Replicas next, int rank) {
    return isIn(next, rank, lost);
  }

  /// Returns the rank of the mirror, or `Replicas.NONE`.
  int mirror() {
    return current.mirror(shard, lost);
  }

  /// Returns whether all other servers of a proposed replica set are lost. The current set then has
  /// no other live servers either.
  boolean isLast(Replicas next) {
    return next.servers().stream().allMatch(rank -> rank == context.rank() || lost.contains(rank));
  }

  /// Plans the replacement of the server at this position.
  void returned(int position, int rank) {
    returned.put(position, rank);
  }

  /// Abandons the replacement by this process.
  void abandon(int rank) {
    returned.values().remove(rank);
  }

  /// Returns a position that is to be replaced, or -1 if there is none.
  int nextPlace() {
    for (Map.Entry<Integer, Integer> each : returned.entrySet()) {
      int rank = each.getValue();
      if (!lost.contains(rank) && !current.servers().get(each.getKey()).equals(rank)) {
        return each.getKey();
      }
    }
    return -1;
  }

  /// Returns the process that is to get this position.
  int replacement(int position) {
    return returned.getOrDefault(position, Replicas.NONE);
  }

  /// Announces the replica set to all servers and workers.
  void announce() {
    Set<Integer> peers = new TreeSet<>(current.servers());
    peers.addAll(context.mirroring().replicas().servers());
    peers.addAll(returned.values());
    peers.addAll(context.workers());
    peers.removeAll(lost);
    peers.remove(context.rank());
    notice.tell(current, lost, peers);
  }

  /// Sends the announcements that did not fit before.
  void flush() {
    notice.flush(current);
  }

  /// Returns whether announcements wait for room.
  boolean isBusy() {
    return notice.isBusy();
  }
}
