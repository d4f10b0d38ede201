// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import java.nio.ByteBuffer;

/// Recognizes encrypted and plain streams by their first bytes, so that mismatched sides can report
/// the setting to change. Nothing here is authenticated.
public final class TlsMark {

  /// The count of bytes that `isTls` examines.
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

  /// Returns whether a stream that begins with these two bytes is TLS: its greeting or its refusal.
  public static boolean isTls(byte first, byte second) {
    return (first == HANDSHAKE || first == ALERT) && second == MAJOR_VERSION;
  }

  /// Returns TLS's fatal alert that no version is common. Each side sends it to a peer whose use of
  /// encryption differs.
  public static ByteBuffer refusal() {
    return ByteBuffer.wrap(REFUSAL.clone());
  }

  /// Returns whether a stream that begins with these bytes is not encrypted: it starts with one of
  /// Weft's own greetings or with that refusal. The buffer's position does not change.
  static boolean isPlain(ByteBuffer bytes) {
    return startsWith(bytes, PLAIN) || startsWith(bytes, REFUSAL);
  }

  private static boolean startsWith(ByteBuffer bytes, byte[] start) {
    return bytes.remaining() >= start.length
        && bytes.slice(bytes.position(), start.length).equals(ByteBuffer.wrap(start));
  }
}
