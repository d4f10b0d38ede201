// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.experiment.Contestant;
import io.weft.perf.report.RankReport;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// A system that can be measured, which is Weft or a peer.
interface MeasuredPeer {

  /// Returns the name on the command line.
  String name();

  /// Prepares a plan outside the timed part: finds and compiles programs. Throws
  /// `IllegalArgumentException` for a plan that this peer cannot run, and `PerfException.Missing`
  /// if this machine lacks a requirement.
  Prepared prepare(MeasuringPlan plan) throws InterruptedException;

  /// The header that all peers' programs include.
  String HEADER = "perf.h";

  /// Returns a contestant that runs one program anew in each round. The program prints the lines
  /// that `RankReport` reads.
  ///
  /// @param title name of the program for messages
  static Prepared program(String title, List<String> command, MeasuringPlan plan) {
    return stage ->
        plan.report(Contestant.output(title, command, stage.variables(), stage.limit(plan)));
  }

  /// A contestant that is ready to run one plan.
  @FunctionalInterface
  interface Prepared {

    /// Runs one round in new processes, which have all ended on return. Throws
    /// `PerfException.Failed`.
    RankReport round(PeerSetup stage) throws InterruptedException;

    /// Runs one round without other contestants.
    default RankReport round() throws InterruptedException {
      return round(PeerSetup.ALONE);
    }
  }

  /// The environment of a round.
  ///
  /// @param variables additional environment variables of all ranks
  /// @param contestants number of contestants that take turns, at least 1
  record PeerSetup(Map<String, String> variables, int contestants) {

    /// The environment of a contestant that runs alone.
    static final PeerSetup ALONE = new PeerSetup(Map.of(), 1);

    public PeerSetup {
      variables = Map.copyOf(variables);
    }

    /// Returns the time limit of a round, which includes the turns of all contestants.
    Duration limit(MeasuringPlan plan) {
      return plan.limit().multipliedBy(contestants);
    }
  }
}
