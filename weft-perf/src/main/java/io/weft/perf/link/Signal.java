// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

/// The signals between the two programs of a measurement between iterations.
enum Signal {
  /// The peer may begin.
  READY('r'),
  /// The written data has arrived.
  ARRIVED('a'),
  /// Another batch of the warm-up follows.
  AGAIN('m'),
  /// The warm-up is over, and measured iterations follow.
  ENOUGH('e'),
  /// All received data was right.
  RIGHT('y'),
  /// Some of the received data was wrong.
  WRONG('n');

  private final byte letter;

  Signal(char letter) {
    this.letter = (byte) letter;
  }

  /// Returns the byte that encodes this signal in a message.
  byte letter() {
    return letter;
  }

  /// Returns the signal that `letter` encodes. Throws `IllegalStateException` for an unknown
  /// letter.
  static Signal of(byte letter) {
    for (Signal signal : values()) {
      if (signal.letter == letter) {
        return signal;
      }
    }
    throw new IllegalStateException("the peer sent an unknown signal: " + letter);
  }
}
