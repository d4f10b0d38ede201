// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

/// The secret that only the processes of a job know. Immutable, thread-safe and never printed.
public final class Secret {

  /// The shortest secret, in bytes.
  public static final int MIN_BYTES = 16;

  private final byte[] bytes;

  private Secret(byte[] bytes) {
    this.bytes = bytes;
  }

  /// Creates a secret of a copy of these bytes. Throws `IllegalArgumentException` if they are too
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

  /// Returns a copy of the bytes, to key a MAC with.
  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public String toString() {
    return "Secret[" + bytes.length + " bytes]";
  }
}
