// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

/// What the two programs of a measurement say to each other between iterations. Each word is
/// answered or followed by the other's before the same side says the next.
enum Signal {
  /// The peer may begin.
  READY('r'),
  /// What was written is there.
  ARRIVED('a'),
  /// One more batch of warming up.
  AGAIN('m'),
  /// What follows is measured.
  ENOUGH('e'),
  /// All that arrived was right.
  RIGHT('y'),
  /// Something that arrived was wrong.
  WRONG('n');

  private final byte letter;

  Signal(char letter) {
    this.letter = (byte) letter;
  }

  /// What stands for it in a message.
  byte letter() {
    return letter;
  }

  /// The signal for which this letter stands. Throws `IllegalStateException` if there is none.
  static Signal of(byte letter) {
    for (Signal signal : values()) {
      if (signal.letter == letter) {
        return signal;
      }
    }
    throw new IllegalStateException("the peer said something unknown: " + letter);
  }
}
