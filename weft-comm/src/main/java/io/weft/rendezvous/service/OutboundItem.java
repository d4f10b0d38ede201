// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.rendezvous.frame.ItemWriter;

/// Something to say to a peer, in its turn.
interface OutboundItem {

  /// Appends it, or nothing where it has become void; false if it does not fit into this message.
  boolean write(ItemWriter message);

  /// The message has left.
  default void sent() {}

  /// Whether it counts as a request.
  default boolean asks() {
    return false;
  }
}
