// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

/// The operation for which a token stands.
public interface TokenOwner {

  /// Handles a completed write whose immediate value is the token. Returns false if `fromRank` does
  /// not take part in the operation and must not write to it; the mesh then gives that rank up. On
  /// the progress thread.
  ///
  /// Hot path.
  boolean onNotify(int fromRank);
}
