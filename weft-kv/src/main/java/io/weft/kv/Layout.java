// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.kv.spec.Replicas;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/// The placement of shards on servers and threads. Pure; equal on all ranks.
///
/// @param kind of the requests on the channel
/// @param replicas the servers of each shard
/// @param workers the ranks of the workers
/// @param shards the number of shards
/// @param threads the number of threads of each server
/// @param lanes the number of lanes of the request channel
record Layout(
    int kind, Replicas replicas, List<Integer> workers, int shards, int threads, int lanes) {

  static Layout of(Weft weft, KvOptions options, List<Integer> workers) {
    List<Integer> servers = options.serversOf(weft.size());
    int threads = weft.config().required(KvConfig.THREADS);
    int asked = weft.config().required(KvConfig.SHARDS);
    int shards = asked == 0 ? servers.size() * threads : asked;
    var replicas = new Replicas(servers, options.copies(servers.size()));
    return new Layout(options.kind(), replicas, workers, shards, threads, weft.lanes().size());
  }

  List<Integer> servers() {
    return replicas.servers();
  }

  /// Returns whether a server has a shard or may acquire it later.
  boolean mayBeOn(int shard, int rank) {
    return shard < shards && (replicas.isMirrored() || replicas.primary(shard, List.of()) == rank);
  }

  /// Returns the shards that a server serves or mirrors before any server is lost.
  List<Integer> shardsOf(int rank) {
    return IntStream.range(0, shards)
        .filter(
            it -> replicas.primary(it, List.of()) == rank || replicas.mirror(it, List.of()) == rank)
        .boxed()
        .toList();
  }

  /// Returns the index of the server thread that owns a shard.
  int threadOf(int shard) {
    return shard / servers().size() % threads;
  }

  /// Returns the lane of the requests to a shard. Each thread of a server has a lane, while there
  /// are enough. Shards with mirrors share the first lane, because the protocol of replica sets
  /// needs the news of a loss in the order of the requests.
  int laneOf(int shard) {
    return replicas.isMirrored() ? 0 : threadOf(shard) % lanes;
  }

  /// Returns the lanes on which workers send requests to a server, ascending.
  Set<Integer> lanesOf(int rank) {
    Set<Integer> used = new TreeSet<>(Set.of(0)); // commands use the first lane
    shardsOf(rank).forEach(shard -> used.add(laneOf(shard)));
    return used;
  }
}
