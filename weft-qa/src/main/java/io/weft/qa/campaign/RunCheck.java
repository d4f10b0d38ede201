// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.campaign;

import io.weft.comm.CommException;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.SimReport.RankResult;
import java.util.ArrayList;
import java.util.List;

/// The check of a run for errors: a hanging rank, a wrong result, a failure that names no rank or a
/// rank that the faults have not harmed. The culprit is read from fields of the failure
/// (`PeerLost.rank`, `Aborted.culprit` and so on), not from its text.
final class RunCheck {

  /// The failures that a run may have.
  enum Expectation {
    /// Ranks may fail due to the faults.
    FAILURES,
    /// No rank may fail, except processes that the faults have started.
    SUCCESS
  }

  private final SimReport<?> report;
  private final HarmedRanks harm;
  private final Expectation expected;
  private final List<String> wrong = new ArrayList<>();

  private RunCheck(SimReport<?> report, HarmedRanks harm, Expectation expected) {
    this.report = report;
    this.harm = harm;
    this.expected = expected;
  }

  /// Returns a line for each error, empty without errors.
  static List<String> on(SimReport<?> report, Expectation expected) {
    HarmedRanks harm = new HarmedRanks(report.faults(), report.outcomes().size(), FaultRun.HOSTS);
    RunCheck verdict = new RunCheck(report, harm, expected);
    verdict.judgeAll();
    return verdict.wrong;
  }

  /// Returns whether the program returned.
  static boolean returned(RankResult<?> outcome) {
    return outcome instanceof RankResult.Returned<?>;
  }

  private void judgeAll() {
    for (RankResult<?> outcome : report.outcomes()) {
      judge(outcome, expected);
    }
    for (RankResult<?> outcome : report.restarts()) {
      judge(outcome, Expectation.FAILURES);
    }
  }

  private void judge(RankResult<?> outcome, Expectation allowed) {
    switch (outcome) {
      case RankResult.Returned<?>(int rank, Object value) -> {}
      case RankResult.Died<?>(int rank, String why) -> {
        if (!harm.of(rank)) {
          wrong.add("rank " + rank + " died: " + why);
        }
      }
      case RankResult.Hung<?>(int rank, String where) ->
          wrong.add("rank " + rank + " hangs: " + where);
      case RankResult.Threw<?>(int rank, Throwable cause) -> {
        String objection = objection(harm, rank, cause);
        if (allowed == Expectation.SUCCESS) {
          wrong.add("rank " + rank + " failed without a reason: " + cause);
        } else if (!objection.isEmpty()) {
          wrong.add("rank " + rank + " " + objection + ": " + cause);
        }
      }
    }
  }

  /// Returns the error in a rank's failure, empty for a correct failure.
  static String objection(HarmedRanks harm, int self, Throwable cause) {
    if (!(cause instanceof CommException failure)) {
      return "threw an exception other than a failure of communication";
    }
    return switch (failure) {
      case CommException.PeerLost lost -> {
        int witness = lost.witness() < 0 ? self : lost.witness();
        yield harm.excuses(lost.rank(), witness) ? "" : "blames " + lost.rank();
      }
      case CommException.Excluded excluded ->
          harm.excuses(self, excluded.witness()) || harm.excuses(excluded.witness(), self)
              ? ""
              : "is excluded, by " + excluded.witness();
      case CommException.Aborted aborted ->
          harm.excuses(aborted.culprit(), self) || (aborted.culprit() < 0 && harm.isHasty())
              ? ""
              : "blames " + aborted.culprit();
      case CommException.Broken broken ->
          harm.excuses(broken.culprit(), self) ? "" : "blames " + broken.culprit();
      case CommException.TimedOut late -> anyOf(harm, late.missing(), self);
      case CommException.Setup setup -> anyOf(harm, setup.ranks(), self);
      case CommException.Mismatch mismatch -> "reported a mismatch that does not exist";
    };
  }

  private static String anyOf(HarmedRanks harm, List<Integer> named, int self) {
    return named.stream().anyMatch(rank -> harm.excuses(rank, self)) ? "" : "blames " + named;
  }
}
