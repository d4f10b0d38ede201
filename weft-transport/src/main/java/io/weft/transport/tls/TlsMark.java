// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import java.nio.ByteBuffer;

/// How a side that encrypts and one that does not know each other by their first bytes, and what
/// they tell each other. Only for messages that say what to set: nothing here is authenticated.
public final class TlsMark {

  /// As many bytes as `isTls` looks at.
  public static final int BYTES = 2;

  private static final byte ALERT = 21;
  private static final byte HANDSHAKE = 22;
  private static final byte MAJOR_VERSION = 3;
  private static final byte FATAL = 2;
  private static final byte PROTOCOL_VERSION = 70;
  private static final byte[] REFUSAL = {
    ALERT, MAJOR_VERSION, MAJOR_VERSION, 0, 2, FATAL, PROTOCOL_VERSION
  };

  private static final byte[] PLAIN = {'W', 'E', 'F', 'T'};

  private TlsMark() {}

  /// Whether a stream that begins with these two bytes is TLS: its greeting or its refusal.
  public static boolean isTls(byte first, byte second) {
    return (first == HANDSHAKE || first == ALERT) && second == MAJOR_VERSION;
  }

  /// TLS's fatal alert that no version is common: the answer of a side that does not encrypt to one
  /// that does, and the other way round.
  public static ByteBuffer refusal() {
    return ByteBuffer.wrap(REFUSAL.clone());
  }

  /// Whether a stream that begins with these bytes, which are not moved, is not encrypted: one of
  /// Weft's own openings, or that refusal.
  static boolean isPlain(ByteBuffer bytes) {
    return startsWith(bytes, PLAIN) || startsWith(bytes, REFUSAL);
  }

  private static boolean startsWith(ByteBuffer bytes, byte[] start) {
    return bytes.remaining() >= start.length
        && bytes.slice(bytes.position(), start.length).equals(ByteBuffer.wrap(start));
  }
}
