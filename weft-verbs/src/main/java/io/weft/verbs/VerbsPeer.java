// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Endpoint;
import io.weft.transport.TransportException;
import io.weft.verbs.ring.VerbsOutbound;
import org.jspecify.annotations.Nullable;

/// Who is at the other end, for messages.
///
/// @param lower the TCP connection, which knows its node
/// @param address where it was called; for who has called us, words instead
record VerbsPeer(Endpoint lower, String address) {

  /// It has no such memory.
  ///
  /// @param whose region it may be instead
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
