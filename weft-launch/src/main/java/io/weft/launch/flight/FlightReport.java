// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// What the logs of a failed job say together.
///
/// @param size ranks in the job
/// @param logs ranks whose logs are known
/// @param cause where it failed first, and why: a line for people
/// @param findings the most telling first
public record FlightReport(
    int size, List<Integer> logs, String cause, List<FlightFinding> findings) {

  private static final int MOST_FINDINGS = 9;

  /// Copies the lists.
  public FlightReport {
    logs = List.copyOf(logs);
    findings = List.copyOf(findings);
  }

  /// Judges; empty where there is no log, or nothing failed and nothing was under way.
  public static Optional<FlightReport> of(JobLogs evidence) {
    return evidence.logs().isEmpty() ? Optional.empty() : new FailureAnalysis(evidence).report();
  }

  /// At most 11 lines for people.
  public List<String> lines() {
    var lines = new ArrayList<String>();
    lines.add("cause: " + cause);
    findings.stream().limit(MOST_FINDINGS).forEach(finding -> lines.add("  " + finding.words()));
    if (findings.size() > MOST_FINDINGS) {
      lines.add("  and " + (findings.size() - MOST_FINDINGS) + " findings more");
    }
    return lines;
  }
}
