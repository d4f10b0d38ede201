// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Determines the rank that caused the failure of a job. The first rank to end is often only a
/// witness: ranks that notice a killed or stopped rank end before the launcher sees it. Pure.
final class Culprit {

  static final int NOBODY = -1;

  private static final Pattern BLAME =
      Pattern.compile(
          "\\brank (\\d{1,6}) on \\S+ (is lost: |left the job while |has left the job; "
              + "|has closed its DataParallel|has not submitted it)");

  /// The state of one rank after the others had time to end.
  ///
  /// @param status exit status; empty = the rank runs
  /// @param stopped true if the rank is visibly stopped
  /// @param blamed the rank that it reported lost, or `NOBODY`
  record Fate(int rank, Optional<ExitStatus> status, boolean stopped, int blamed) {

    private boolean failed() {
      return status.filter(s -> s.code() != 0).isPresent();
    }

    /// Returns true if the rank reports another rank as the reason.
    private boolean blames() {
      return blamed != NOBODY && blamed != rank;
    }

    private boolean killed() {
      return status.filter(ExitStatus::bySignal).isPresent();
    }
  }

  private Culprit() {}

  /// Returns the culprit. The order of preference is: a killed rank, a stopped rank, the rank that
  /// the most others blame, the first rank that failed without blaming another, the first rank that
  /// failed.
  ///
  /// @param fates fates in the order in which the ranks ended
  static Fate of(List<Fate> fates) {
    return fates.stream()
        .filter(Fate::killed)
        .findFirst()
        .or(() -> fates.stream().filter(Fate::stopped).findFirst())
        .or(() -> blamed(fates))
        .or(() -> fates.stream().filter(fate -> fate.failed() && !fate.blames()).findFirst())
        .or(() -> fates.stream().filter(Fate::failed).findFirst())
        .orElseThrow();
  }

  private static Optional<Fate> blamed(List<Fate> fates) {
    Map<Integer, Integer> votes = new HashMap<>();
    for (Fate fate : fates) {
      if (fate.failed() && fate.blames()) {
        votes.merge(fate.blamed(), 1, Integer::sum);
      }
    }
    int most = votes.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    // If only one witness blames a rank that succeeded, the witness itself is the failed rank.
    return fates.stream()
        .filter(fate -> most > 0 && votes.getOrDefault(fate.rank(), 0) == most)
        .filter(fate -> most > 1 || fate.failed() || fate.status().isEmpty())
        .findFirst();
  }

  /// Returns the rank that this output line reports as lost, departed or missing, or `NOBODY`.
  static int blamedIn(String line) {
    Matcher matcher = BLAME.matcher(line);
    return matcher.find() ? Integer.parseInt(matcher.group(1)) : NOBODY;
  }
}
