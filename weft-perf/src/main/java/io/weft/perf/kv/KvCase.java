// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import java.util.Locale;

/// One measurement of several.
///
/// @param transport over which
/// @param clients where the workers are
record KvCase(KvPlan plan, String transport, Clients clients) {

  /// Where the workers are. Each is a rank of its own.
  enum Clients {
    /// Each in a process of its own.
    PROCESSES,
    /// All in one process, each on a thread of its own.
    THREADS;

    /// The word of the report.
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// In words.
  String text() {
    return "%s over %s, window %d, workers: %d"
        .formatted(plan.op().word(), transport, plan.window(), plan.workers());
  }
}
