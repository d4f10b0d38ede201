// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

/// What all processes of a job know and nobody else does. Immutable; never printed. Any thread.
public final class Secret {

  /// Shortest secret, in bytes.
  public static final int MIN_BYTES = 16;

  private final byte[] bytes;

  private Secret(byte[] bytes) {
    this.bytes = bytes;
  }

  /// A secret of these bytes, which are copied. Throws `IllegalArgumentException` if they are too
  /// few.
  public static Secret of(byte[] bytes) {
    if (bytes.length < MIN_BYTES) {
      throw new IllegalArgumentException(
          "the job's secret has "
              + bytes.length
              + " bytes, at least "
              + MIN_BYTES
              + " are needed; make one with 'head -c 32 /dev/urandom | base64'");
    }
    return new Secret(bytes.clone());
  }

  /// A copy of the bytes, to key a MAC with.
  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public String toString() {
    return "Secret[" + bytes.length + " bytes]";
  }
}
