// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import java.nio.ByteBuffer;

/// The action of one side of a handshake after it has received bytes.
public sealed interface HandshakeStep {

  /// Returns the bytes to send now, in any case and before all other bytes; may be empty, at most
  /// 96 bytes. The caller owns them.
  ByteBuffer reply();

  /// The handshake needs more bytes.
  ///
  /// @param reply see `reply`
  record Continued(ByteBuffer reply) implements HandshakeStep {}

  /// The peer has proved its claim and that it belongs to this job. The next byte of the stream
  /// does not belong to the handshake.
  ///
  /// @param reply see `reply`
  /// @param peer the proved claim
  record Established(ByteBuffer reply, Claim peer) implements HandshakeStep {}

  /// The caller must close the connection after it has sent the reply.
  ///
  /// @param reply see `reply`; reveals nothing to a peer that does not know the secret
  /// @param why for the log or the exception, to follow the peer's name
  record Refused(ByteBuffer reply, String why) implements HandshakeStep {}
}
