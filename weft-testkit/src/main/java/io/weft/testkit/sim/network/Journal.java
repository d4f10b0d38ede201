// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import org.jspecify.annotations.Nullable;

/// Who writes down what happens.
public interface Journal {

  /// Kinds of what happens. Their codes are part of a trace's hash.
  enum What {
    /// A message leaves.
    SEND(1),
    /// A remote write leaves.
    WRITE(2),
    /// A remote read is asked for.
    READ(3),
    /// Bytes of a handshake leave.
    HANDSHAKE(4),
    /// A message is there.
    ARRIVED(5),
    /// A write has landed and is notified.
    LANDED(6),
    /// A part of a write has landed and nothing more will come.
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
    /// A connection is closed from here.
    CLOSED(13),
    /// A fault strikes.
    FAULT(14),
    /// A program begins.
    BEGUN(15),
    /// A program has ended.
    ENDED(16);

    private final int code;

    What(int code) {
      this.code = code;
    }

    /// What stands for it in a hash.
    public int code() {
      return code;
    }
  }

  /// Writes it down.
  ///
  /// @param who where it happens
  /// @param peerRank the other side, -1 = nobody
  /// @param bytes of payload
  /// @param message contents of a message, which are not part of the hash
  void record(What what, SimNode who, int peerRank, long bytes, byte @Nullable [] message);
}
