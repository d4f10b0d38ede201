// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.cluster.item.OutboundItem;
import io.weft.comm.CommException;
import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.frame.ItemWriter;
import io.weft.rendezvous.frame.TensorSpec;
import io.weft.rendezvous.route.Route;
import io.weft.transport.RemoteRegion;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// A peer's request for a tensor of this rank.
final class ParkedRequest extends PendingSide implements OutboundItem<ItemWriter> {

  final RendezvousPeer peer;
  final int id;
  final long stepNumber;

  final Destination destination;

  private byte[] why = {};

  /// The destination at the peer.
  ///
  /// @param writes true if the peer requests the write protocol
  /// @param expected the signature that the peer expects; null if it expects none
  /// @param into the memory into which such a tensor may be written; null if there is none
  record Destination(boolean writes, @Nullable TensorSpec expected, @Nullable RemoteRegion into) {}

  ParkedRequest(
      RendezvousPeer peer, int id, Route route, RendezvousKey key, Destination destination) {
    super(route, key);
    this.peer = peer;
    this.id = id;
    this.stepNumber = key.step();
    this.destination = destination;
  }

  @Override
  protected void enter(MeshRendezvous rendezvous) {
    rendezvous.source().enter(this);
  }

  @Override
  boolean dependsOn(int rank) {
    return peer.rank() == rank;
  }

  /// Sends the peer the reason why its request fails.
  @Override
  void fail(CommException cause) {
    why = String.valueOf(cause.getMessage()).getBytes(StandardCharsets.UTF_8);
    peer.post(this);
  }

  @Override
  public boolean write(ItemWriter message) {
    return message.failed(id, why);
  }
}
