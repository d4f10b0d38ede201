// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import org.jspecify.annotations.Nullable;

/// A posted read or write, until its completion. It completes once: in a poll of the posting side,
/// or when that side closes the endpoint.
abstract class SimTransfer extends SimPacket {

  final LocalRegion region;
  final long offset;
  final long length;
  final int remoteKey;
  final long remoteOffset;
  private final Completion done;
  private boolean completed;

  /// @param own the region of this side
  record Terms(
      LocalRegion own,
      long offset,
      long length,
      int remoteKey,
      long remoteOffset,
      Completion done) {}

  SimTransfer(PacketKind kind, SimEndpoint from, Terms terms) {
    super(kind, from, new byte[0]);
    this.region = terms.own;
    this.offset = terms.offset;
    this.length = terms.length;
    this.remoteKey = terms.remoteKey;
    this.remoteOffset = terms.remoteOffset;
    this.done = terms.done;
    region.post();
  }

  boolean isCompleted() {
    return completed;
  }

  /// Completes the transfer; a second call has no effect.
  void complete(@Nullable TransportException failure) {
    if (!completed) {
      completed = true;
      from.forget(this);
      region.settle();
      done.complete(failure);
    }
  }

  /// Keeps the bytes that had been sent when the connection was cut.
  abstract void tear(long nowNanos);

  TransportException refused(String why) {
    return new TransportException.Refused(
        (kind == PacketKind.WRITE ? "write of " : "read of ")
            + length
            + " bytes at "
            + from.who()
            + " refused: "
            + why,
        null);
  }
}
