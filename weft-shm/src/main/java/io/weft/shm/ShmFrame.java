// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

/// One record of a ring: 32 bytes of header, then its payload, padded to 32 bytes. Positions are
/// multiples of 32, so a header never wraps.
final class ShmFrame {

  static final int BYTES = 32;

  static final int KIND = 0;
  static final int IMMEDIATE = 4;
  static final int KEY = 8;
  static final int CONTEXT = 12;
  static final int OFFSET = 16;
  static final int LENGTH = 24;

  /// A small message: payload.
  static final int MESSAGE = 1;

  /// A write has landed that the sender copied itself.
  static final int NOTIFY = 2;

  /// A write into memory that the sender cannot reach; its payload follows.
  static final int WRITE = 3;

  /// Asks for bytes that the sender cannot reach; the immediate value is the key of its region
  /// where they go, the payload a `long`: where in it.
  static final int READ = 4;

  /// The answer; its payload follows.
  static final int READ_DATA = 5;

  /// No answer, or no further part of it.
  static final int READ_REFUSED = 6;

  /// The next staging slot holds the next part of a long payload.
  static final int STAGED = 7;

  /// An extent of the sender's memory is gone; its number is the key.
  static final int GONE = 8;

  /// The answer, which its sender has copied itself to where it was asked to.
  static final int READ_LANDED = 9;

  /// The rest of a write's payload does not come, and nobody is to be told of the write.
  static final int WITHDRAWN = 10;

  /// The longest payload that lies in the ring behind its header.
  static final int INLINE_BYTES = 4096;

  /// Why a read was refused.
  static final int STALE_KEY = 1;

  static final int OUT_OF_BOUNDS = 2;

  private ShmFrame() {}

  /// Bytes in the ring of a frame with so long a payload.
  static int padded(int payload) {
    return BYTES + ((payload + BYTES - 1) & -BYTES);
  }
}
