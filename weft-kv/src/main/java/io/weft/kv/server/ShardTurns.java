// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

/// Shards of a server, and who turns them. Any thread.
public sealed interface ShardTurns extends AutoCloseable permits ShardThread, ProgramTurns {

  /// What has come for the shards waits there.
  ShardLoop loop();

  /// Ends it; what is not answered fails.
  @Override
  void close();
}
