// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.Optional;
import java.util.stream.Stream;

/// The ways in which a collective transfers bytes between ranks.
public enum Way {
  /// In slots of a mailbox in shared memory.
  MAILBOX("mailbox"),
  /// In place, in the memory of other ranks.
  MAPPED("mapped"),
  /// By messages, and by writes to memory that the peer has granted.
  WIRE("wire");

  /// Room for a contribution in a slot of a mailbox, in bytes.
  public static final int SLOT_PAYLOAD_BYTES = 432;

  /// The number of slots of a mailbox, and of the operations that may use it at the same time.
  public static final int SLOTS = 8;

  private final String words;

  Way(String words) {
    this.words = words;
  }

  /// Returns the name in tables and reports.
  public String words() {
    return words;
  }

  static Optional<Way> named(String words) {
    return Stream.of(values()).filter(way -> way.words().equals(words)).findFirst();
  }
}
