// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

/// The limits of one end of a connection: on data in flight, and on the length of a message.
///
/// @param operations that the peer has not taken yet
/// @param bytes of messages that the peer has not taken yet; one message is always accepted
/// @param messageBytes of the longest message, at least 4,096
public record Limits(int operations, int bytes, int messageBytes) {

  /// The default: 256 operations, 256 KiB, and messages of 64 KiB.
  public static final Limits DEFAULT = new Limits(256, 256 << 10, 64 << 10);

  private static final int MIN_MESSAGE_BYTES = 4096;

  /// Throws `IllegalArgumentException` if a number is too small.
  public Limits {
    if (operations < 1 || bytes < 1 || messageBytes < MIN_MESSAGE_BYTES) {
      throw new IllegalArgumentException(
          operations
              + " operations and "
              + bytes
              + " bytes in flight, messages of "
              + messageBytes
              + " bytes: at least 1, 1 and "
              + MIN_MESSAGE_BYTES);
    }
  }
}
