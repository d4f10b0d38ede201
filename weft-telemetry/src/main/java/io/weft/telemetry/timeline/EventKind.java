// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import org.jspecify.annotations.Nullable;

/// The kind of a timeline's event. The codes belong to the file format and must not change.
public enum EventKind {
  /// A user submitted an operation; value: bytes, detail: key of the communicator.
  SUBMITTED(1),
  /// The progress thread took the operation; value: number of earlier uses of the name, detail: key
  /// of the communicator.
  STARTED(2),
  /// An exchange of the operation begins; value: number of the exchange, from 0.
  EXCHANGE(3),
  /// The ranks that the operation needs have agreed; value: number of the exchange.
  NEGOTIATED(4),
  /// All data that this rank sends in an exchange has left; value: number of the exchange.
  SENT(5),
  /// All data that this rank receives in an exchange has arrived; value: number of the exchange.
  REDUCED(6),
  /// The operation completed; value: the rank from which data arrived last, or -1.
  DONE(7),
  /// The operation failed; value: as for `DONE`.
  FAILED(8),
  /// The operation was withdrawn because its queue was full.
  WITHDRAWN(9),
  /// A span of the layer or of the program; value: its end, detail: by category.
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
