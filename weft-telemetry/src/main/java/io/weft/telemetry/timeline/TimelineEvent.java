// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// An event of a timeline file.
///
/// @param kind kind of the event
/// @param category category of a span; null for events of operations
/// @param thread index of the recording thread; see `TimelineReader.threads`
/// @param name name of the operation or span
/// @param nanos time by the rank's own clock; of a span, its beginning
/// @param operation number of the operation, unique on the rank; 0 for spans
/// @param value value, by kind
/// @param detail detail by kind, for spans by category
public record TimelineEvent(
    EventKind kind,
    @Nullable SpanCategory category,
    int thread,
    String name,
    long nanos,
    long operation,
    long value,
    long detail) {
  /// Throws `NullPointerException` if the kind or the name is null.
  public TimelineEvent {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(name, "name");
  }

  /// The last two bits of `operation` of a collective.
  static final int COLLECTIVE = 1;

  /// Returns true if the event belongs to an operation of a communicator.
  public boolean isCollective() {
    return kind != EventKind.SPAN && (operation & 3) == COLLECTIVE;
  }
}
