// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

/// The layout of a ring's frame: a 32-byte header and its payload, padded to 32 bytes. Positions
/// are multiples of 32, so that a header never wraps.
final class ShmFrame {

  static final int BYTES = 32;

  static final int KIND = 0;
  static final int IMMEDIATE = 4;
  static final int KEY = 8;
  static final int CONTEXT = 12;
  static final int OFFSET = 16;
  static final int LENGTH = 24;

  /// A small message with its payload.
  static final int MESSAGE = 1;

  /// A completed write whose bytes the sender has copied itself.
  static final int NOTIFY = 2;

  /// A write into memory that the sender cannot map; its payload follows.
  static final int WRITE = 3;

  /// A request for bytes that the sender cannot map. The immediate value is the key of the sender's
  /// target region, and the payload is the offset in it, a `long`.
  static final int READ = 4;

  /// The answer to a read; its payload follows.
  static final int READ_DATA = 5;

  /// The refusal of a read, or of the rest of its data; the immediate value is the reason.
  static final int READ_REFUSED = 6;

  /// The next part of a long payload, which is in the next staging slot.
  static final int STAGED = 7;

  /// The sender has freed the extent whose number is the key.
  static final int GONE = 8;

  /// The answer to a read, whose bytes the sender has copied into the target region itself.
  static final int READ_LANDED = 9;

  /// The cancellation of a partial write, which must not be notified.
  static final int WITHDRAWN = 10;

  /// The longest payload that follows its header in the ring.
  static final int INLINE_BYTES = 4096;

  /// The reason of a refusal if no open region has the key.
  static final int STALE_KEY = 1;

  static final int OUT_OF_BOUNDS = 2;

  private ShmFrame() {}

  /// Returns the length in the ring of a frame with this payload length.
  static int padded(int payload) {
    return BYTES + ((payload + BYTES - 1) & -BYTES);
  }
}
