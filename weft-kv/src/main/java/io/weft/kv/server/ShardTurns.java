// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.frame.KvHead;

/// Shards of a server, whoever turns them: what has come for them waits until then. Any thread.
public sealed interface ShardTurns extends AutoCloseable permits ShardThread, ProgramTurns {

  /// A request of a worker.
  ///
  /// Hot path.
  void serve(IncomingRequest request, KvHead head);

  /// What another server has done to a shard that this one mirrors.
  ///
  /// @param worker position of whose request it was
  void mirror(IncomingRequest request, KvHead head, int worker);

  /// Nobody waits for this rank any more.
  void leave(int rank);

  /// A server is lost; this one may have to take its place.
  void lose(int rank);

  /// A process takes the place of a server that was lost.
  ///
  /// @param position of the place in the ring of servers
  void returned(int position, int rank);

  /// Ends it; what is not answered fails.
  @Override
  void close();
}
