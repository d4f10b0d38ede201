// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import java.util.Locale;

/// One measurement of several.
///
/// @param plan the plan of the measurement
/// @param transport Weft's transport
/// @param clients the placement of the workers
record KvCase(KvPlan plan, String transport, Clients clients) {

  /// The placement of the workers. Each worker is a separate rank.
  enum Clients {
    /// Each worker runs in a separate process.
    PROCESSES,
    /// All workers run in one process, each on a separate thread.
    THREADS;

    /// Returns the word in the report.
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// Returns a description for progress messages.
  String text() {
    return "%s over %s, window %d, workers: %d"
        .formatted(plan.op().word(), transport, plan.window(), plan.workers());
  }
}
