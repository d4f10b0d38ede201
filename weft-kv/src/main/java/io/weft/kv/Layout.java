// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import java.util.List;
import java.util.stream.IntStream;

/// Which shard lies on which server and thread. Pure; the same on all ranks.
///
/// @param kind of the requests on the channel
/// @param servers their ranks
/// @param workers their ranks
/// @param shards how many there are
/// @param threads of each server
record Layout(int kind, List<Integer> servers, List<Integer> workers, int shards, int threads) {

  static Layout of(Weft weft, KvOptions options) {
    List<Integer> servers = options.serversOf(weft.size());
    int threads = weft.config().required(KvConfig.THREADS);
    int asked = weft.config().required(KvConfig.SHARDS);
    int shards = asked == 0 ? servers.size() * threads : asked;
    return new Layout(options.kind(), servers, options.workersOf(weft.size()), shards, threads);
  }

  /// Rank of the server that has a shard.
  int serverOf(int shard) {
    return servers.get(shard % servers.size());
  }

  boolean isOn(int shard, int rank) {
    return shard < shards && serverOf(shard) == rank;
  }

  /// The shards of a server.
  List<Integer> shardsOf(int rank) {
    return IntStream.range(0, shards).filter(it -> serverOf(it) == rank).boxed().toList();
  }

  /// Which thread of its server owns a shard.
  int threadOf(int shard) {
    return shard / servers.size() % threads;
  }

  /// Position of a shard among those of its thread.
  int positionOf(int shard) {
    return shard / servers.size() / threads;
  }
}
