// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

/// The role of this server for a shard. A server that has nothing of the shard is a copying server
/// to which no other server copies. Confined to the shard's thread.
sealed interface ShardRole permits PrimaryRole, MirrorRole, CopyingRole {

  /// Executes and answers an operation that another server has executed. Returns the role of this
  /// server afterwards. Throws `Refusal` for an operation that this role does not execute.
  ShardRole mirror(Pending it) throws Refusal;

  /// Returns whether this server has the whole shard.
  boolean isWhole();
}
