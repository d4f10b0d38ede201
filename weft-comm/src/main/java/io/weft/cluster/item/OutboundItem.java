// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

/// An item queued for a peer.
///
/// @param <W> the type of its writer
public interface OutboundItem<W> {

  /// Appends the item, or nothing if it has become void. Returns false if it does not fit into this
  /// message.
  ///
  /// Hot path.
  boolean write(W message);

  /// Called when the message has been sent.
  default void sent() {}

  /// Returns whether the item counts as a request.
  default boolean asks() {
    return false;
  }
}
