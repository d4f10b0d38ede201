// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import java.nio.ByteBuffer;

/// What one side of a handshake does about the bytes that it was given.
public sealed interface HandshakeStep {

  /// What to send now, in any case and before anything else; may be empty, at most 96 bytes. The
  /// caller's.
  ByteBuffer reply();

  /// The handshake goes on; more bytes are needed.
  ///
  /// @param reply see `reply`
  record Continued(ByteBuffer reply) implements HandshakeStep {}

  /// The peer has proved that it belongs to this job, and what it claims. The next byte of the
  /// stream is not the handshake's.
  ///
  /// @param reply see `reply`
  /// @param peer what the peer proved
  record Established(ByteBuffer reply, Claim peer) implements HandshakeStep {}

  /// The connection is to be closed once the reply is sent.
  ///
  /// @param reply see `reply`; tells nothing to whoever does not know the secret
  /// @param why for the log or the exception, to be read behind the peer's name
  record Refused(ByteBuffer reply, String why) implements HandshakeStep {}
}
