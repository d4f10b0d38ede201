// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

/// Something to say to a peer, in its turn.
///
/// @param <W> what it is written with
public interface OutboundItem<W> {

  /// Appends it, or nothing where it has become void; false if it does not fit into this message.
  ///
  /// Hot path.
  boolean write(W message);

  /// The message has left.
  default void sent() {}

  /// Whether it counts as a request.
  default boolean asks() {
    return false;
  }
}
