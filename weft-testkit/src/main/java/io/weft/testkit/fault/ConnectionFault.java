// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;

/// One thing that goes wrong, once for each connection between the ranks that it names.
///
/// @param kind what
/// @param links between whom, and which way
/// @param amount how long a stall lasts, zero = for ever; how late a delay makes bytes; zero for
///   all others
/// @param moment when
public record ConnectionFault(FaultKind kind, Links links, Duration amount, Moment moment) {
  /// Throws `NullPointerException` where a part is missing.
  public ConnectionFault {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(links, "links");
    Objects.requireNonNull(amount, "amount");
    Objects.requireNonNull(moment, "moment");
  }

  /// What goes wrong.
  public enum FaultKind {
    /// The connection is closed. At a moment in time both ends see it reset; after a number of
    /// bytes the receiver gets exactly these and then the end of the stream, in the midst of a
    /// frame or not.
    CUT,
    /// No more bytes come this way, and the receiver is told so; the other way goes on.
    HALF_CLOSE,
    /// Nothing moves, as if a cable had been pulled: neither bytes nor news of an end. What was
    /// sent arrives when it is over.
    STALL,
    /// Each byte arrives later.
    DELAY,
    /// One bit of one byte is flipped.
    CORRUPT;

    /// As a plan says it.
    String word() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /// When a fault comes, counted from when the connection was made.
  public sealed interface Moment {

    /// After a time; zero = at once.
    ///
    /// @param since the connection was made
    record After(Duration since) implements Moment {
      /// Throws `NullPointerException` where a part is missing.
      public After {
        Objects.requireNonNull(since, "since");
      }
    }

    /// Behind a number of bytes of the direction, which are not affected.
    ///
    /// @param bytes that went this way, the handshake's included
    record Behind(long bytes) implements Moment {}
  }

  /// As a plan says it: `stall=0-1:3000ms@2000ms`.
  @Override
  public String toString() {
    String much = amount.isZero() ? "" : ":" + Span.millis(amount) + "ms";
    String when =
        switch (moment) {
          case Moment.After(Duration since) ->
              since.isZero() ? "" : "@" + Span.millis(since) + "ms";
          case Moment.Behind(long bytes) -> "@" + bytes;
        };
    return kind.word() + "=" + links + much + when;
  }
}
