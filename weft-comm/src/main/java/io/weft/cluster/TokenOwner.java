// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

/// What a token stands for.
public interface TokenOwner {

  /// A write has landed whose immediate value is the token. Returns false where this rank has no
  /// part in it and must not write: it is given up then. On the progress thread.
  ///
  /// Hot path.
  boolean onNotify(int fromRank);
}
