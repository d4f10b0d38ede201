// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Which rank a failed job failed of. The first to end is often a witness: ranks that notice that
/// another one is killed or stopped end before the launcher sees it. Pure.
final class Culprit {

  /// No rank.
  static final int NOBODY = -1;

  private static final Pattern BLAME =
      Pattern.compile(
          "\\brank (\\d{1,6}) on \\S+ (is lost: |left the job while |has left the job; "
              + "|has closed its DataParallel|has not submitted it)");

  /// What is known of one rank when the others had time to end.
  ///
  /// @param status empty while it runs
  /// @param stopped whether it can be seen that it is stopped
  /// @param blamed the rank that it called lost, or `NOBODY`
  record Fate(int rank, Optional<ExitStatus> status, boolean stopped, int blamed) {

    private boolean failed() {
      return status.filter(s -> s.code() != 0).isPresent();
    }

    /// Whether it says that another rank is the reason.
    private boolean blames() {
      return blamed != NOBODY && blamed != rank;
    }

    private boolean killed() {
      return status.filter(ExitStatus::bySignal).isPresent();
    }
  }

  private Culprit() {}

  /// One of the ranks. A rank that was killed goes before one that is stopped, that before the one
  /// that most others blame, that before the first that failed without blaming another, that before
  /// the first that failed.
  ///
  /// @param fates those that ended first, in the order in which they did
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
    // One witness against a rank that ended well is a rank that failed.
    return fates.stream()
        .filter(fate -> most > 0 && votes.getOrDefault(fate.rank(), 0) == most)
        .filter(fate -> most > 1 || fate.failed() || fate.status().isEmpty())
        .findFirst();
  }

  /// The rank that this line of a rank's output says is lost, has left or is missing, or `NOBODY`.
  static int blamedIn(String line) {
    Matcher matcher = BLAME.matcher(line);
    return matcher.find() ? Integer.parseInt(matcher.group(1)) : NOBODY;
  }
}
