// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.Optional;
import java.util.stream.Stream;

/// How the bytes of a collective come from rank to rank.
public enum Way {
  /// Inside slots of a mailbox in shared memory.
  MAILBOX("mailbox"),
  /// In the memory of other ranks, where it lies.
  MAPPED("mapped"),
  /// By messages and writes to memory that the peer has granted.
  WIRE("wire");

  /// Room for a contribution in a slot of a mailbox.
  public static final int SLOT_PAYLOAD_BYTES = 432;

  /// Slots of a mailbox: so many operations may be under way there.
  public static final int SLOTS = 8;

  private final String words;

  Way(String words) {
    this.words = words;
  }

  /// As tables and reports have it.
  public String words() {
    return words;
  }

  /// The way of this name.
  static Optional<Way> named(String words) {
    return Stream.of(values()).filter(way -> way.words().equals(words)).findFirst();
  }
}
