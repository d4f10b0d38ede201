// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;

/// A fault that happens once in each direction between each two ranks that it names; a cut happens
/// once for both directions.
///
/// @param kind of the fault
/// @param links the affected ranks and directions
/// @param amount length of a stall, zero = forever; lateness of a delay; zero for all others
/// @param moment of the fault
public record ConnectionFault(FaultKind kind, Links links, Duration amount, Moment moment) {
  /// Throws `NullPointerException` if a component is null.
  public ConnectionFault {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(links, "links");
    Objects.requireNonNull(amount, "amount");
    Objects.requireNonNull(moment, "moment");
  }

  /// The kind of a fault.
  public enum FaultKind {
    /// The connection is closed. If the moment is a time, both ends see a reset. If it is a number
    /// of bytes, the receiver gets exactly these bytes and then the end of the stream, perhaps in
    /// the middle of a frame.
    CUT,
    /// The receiver sees the end of the stream; the other direction continues.
    HALF_CLOSE,
    /// Nothing moves, as if a cable had been pulled: neither bytes nor the end of the connection.
    /// The bytes that were sent arrive after the stall.
    STALL,
    /// Each byte arrives later.
    DELAY,
    /// One bit of one byte is flipped.
    CORRUPT;

    /// Returns the word for this kind in a plan.
    String word() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /// The moment of a fault, counted from when the connection was made.
  public sealed interface Moment {

    /// A moment after a time; zero = at once.
    ///
    /// @param since the time since the connection was made
    record After(Duration since) implements Moment {
      /// Throws `NullPointerException` if a component is null.
      public After {
        Objects.requireNonNull(since, "since");
      }
    }

    /// A moment after a number of bytes in this direction, which are not affected.
    ///
    /// @param bytes sent in this direction, the handshake's included
    record Behind(long bytes) implements Moment {}
  }

  /// Returns the fault as a plan's item: `stall=0-1:3000ms@2000ms`.
  @Override
  public String toString() {
    String much = amount.isZero() ? "" : ":" + ClampedDuration.millis(amount) + "ms";
    String when =
        switch (moment) {
          case Moment.After(Duration since) ->
              since.isZero() ? "" : "@" + ClampedDuration.millis(since) + "ms";
          case Moment.Behind(long bytes) -> "@" + bytes;
        };
    return kind.word() + "=" + links + much + when;
  }
}
