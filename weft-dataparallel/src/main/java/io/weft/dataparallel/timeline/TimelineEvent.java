// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One event as a timeline file has it.
///
/// @param kind what it tells
/// @param category of a span; null for events of operations
/// @param thread index of the thread on which it was recorded; see `TimelineReader.threads`
/// @param name of the operation or span
/// @param nanos when, by the rank's own clock; of a span, its beginning
/// @param operation tells the operation from all others of the rank; 0 for spans
/// @param value by kind
/// @param detail by kind, for spans by category
public record TimelineEvent(
    EventKind kind,
    @Nullable SpanCategory category,
    int thread,
    String name,
    long nanos,
    long operation,
    long value,
    long detail) {
  /// Throws `NullPointerException` where a part is missing.
  public TimelineEvent {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(name, "name");
  }

  /// The last two bits of `operation` of a collective.
  static final int COLLECTIVE = 1;

  /// Whether it is of an operation of a communicator.
  public boolean isCollective() {
    return kind != EventKind.SPAN && (operation & 3) == COLLECTIVE;
  }
}
