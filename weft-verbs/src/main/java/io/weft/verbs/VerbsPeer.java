// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Endpoint;
import io.weft.transport.TransportException;
import io.weft.verbs.ring.VerbsOutbound;
import org.jspecify.annotations.Nullable;

/// The description of the peer for messages.
///
/// @param lower the TCP connection, which knows the peer's node
/// @param address the address that was called; a description if the peer has called
record VerbsPeer(Endpoint lower, String address) {

  /// Creates the refusal of an operation on memory that the peer does not have.
  ///
  /// @param whose the incarnation that the region may belong to instead
  TransportException.Refused refused(VerbsOutbound.SendKind kind, String whose) {
    return new TransportException.Refused(
        (kind == VerbsOutbound.SendKind.WRITE ? "write to " : "read of ")
            + "a region of "
            + this
            + " was refused: it is closed, too short, or of "
            + whose
            + " of its transports; export the region again",
        null);
  }

  TransportException.EndpointLost lost(String why, @Nullable Throwable cause) {
    return new TransportException.EndpointLost("endpoint to " + this + " is lost: " + why, cause);
  }

  @Override
  public String toString() {
    return "rank " + lower.node() + " at " + address;
  }
}
