// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import java.time.Duration;
import java.util.Locale;

/// The extent of a reproduction.
enum ReproductionMode {
  /// The measurements that take at most nine minutes on two processors.
  QUICK(Duration.ofSeconds(530), Duration.ofSeconds(75)),
  /// All measurements, with longer runs.
  FULL(Duration.ofHours(4), Duration.ofMinutes(30));

  private final Duration budget;
  private final Duration limit;

  ReproductionMode(Duration budget, Duration limit) {
    this.budget = budget;
    this.limit = limit;
  }

  /// Returns the name in reports.
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// Returns the time for all commands together.
  Duration budget() {
    return budget;
  }

  /// Returns the time limit of one command, unless the user gives another one.
  Duration limit() {
    return limit;
  }

  /// Returns the option that fits the mode.
  String choose(String quick, String full) {
    return switch (this) {
      case QUICK -> quick;
      case FULL -> full;
    };
  }
}
