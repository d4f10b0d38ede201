// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import org.jspecify.annotations.Nullable;

/// A recorder of the events of a network.
public interface Journal {

  /// The kinds of events. Their codes are part of a trace's hash.
  enum What {
    /// A message is sent.
    SEND(1),
    /// A remote write is sent.
    WRITE(2),
    /// A remote read is requested.
    READ(3),
    /// Bytes of a handshake are sent.
    HANDSHAKE(4),
    /// A message has arrived.
    ARRIVED(5),
    /// A write has landed and is notified.
    LANDED(6),
    /// A part of a write has landed and the rest will not arrive.
    TORN(7),
    /// Bytes wait for a partition to heal.
    HELD(8),
    /// Bytes are lost.
    DROPPED(9),
    /// A connection is usable.
    CONNECTED(10),
    /// A connection is refused.
    REFUSED(11),
    /// A connection is lost.
    LOST(12),
    /// A connection is closed by this side.
    CLOSED(13),
    /// A fault begins.
    FAULT(14),
    /// A program begins.
    BEGUN(15),
    /// A program has ended.
    ENDED(16);

    private final int code;

    What(int code) {
      this.code = code;
    }

    /// Returns the value in a hash.
    public int code() {
      return code;
    }
  }

  /// Records an event.
  ///
  /// @param who the process of the event
  /// @param peerRank the other side, -1 = none
  /// @param bytes of payload
  /// @param message contents of a message, which are not part of the hash
  void record(What what, SimNode who, int peerRank, long bytes, byte @Nullable [] message);
}
