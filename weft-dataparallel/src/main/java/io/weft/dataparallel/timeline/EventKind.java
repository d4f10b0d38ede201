// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

import org.jspecify.annotations.Nullable;

/// What an event of a timeline tells. The codes are those of the file format and stay.
public enum EventKind {
  /// A user handed an operation over; value: bytes, detail: key of the communicator.
  SUBMITTED(1),
  /// The progress thread took it; value: how often the name was used before, detail: key of the
  /// communicator.
  STARTED(2),
  /// An exchange of it begins; value: which, from 0.
  EXCHANGE(3),
  /// Those whom it needs have agreed; value: which exchange.
  NEGOTIATED(4),
  /// All that this rank sends in an exchange has left; value: which exchange.
  SENT(5),
  /// All that this rank receives in an exchange is there; value: which exchange.
  REDUCED(6),
  /// It completed; value: the rank that this one heard of last, or -1.
  DONE(7),
  /// It failed; value: as for `DONE`.
  FAILED(8),
  /// There was no room for it.
  WITHDRAWN(9),
  /// A span of the layer or of the program; value: when it ended, detail: by category.
  SPAN(10);

  private static final EventKind[] BY_CODE = new EventKind[11];

  static {
    for (EventKind kind : values()) {
      BY_CODE[kind.code] = kind;
    }
  }

  private final int code;

  EventKind(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }

  static @Nullable EventKind of(int code) {
    return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }
}
