// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

/// The shards of a server, with the thread that serves them. Any thread.
public sealed interface ShardTurns extends AutoCloseable permits ShardThread, ProgramTurns {

  /// Returns the loop with the queue of the shards' tasks.
  ShardLoop loop();

  /// Ends the loop. Unanswered requests fail.
  @Override
  void close();
}
