// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.process.Child;
import io.weft.perf.process.PerfException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// A system that can be measured beside Weft, or Weft itself.
interface MeasuredPeer {

  /// The name on the command line.
  String name();

  /// Makes ready what a plan needs, untimed: finds programs, compiles. Throws
  /// `IllegalArgumentException` for a plan that this peer cannot run and `PerfException.Missing` if
  /// something is not on this machine.
  Contestant prepare(MeasuringPlan plan) throws InterruptedException;

  /// The header that all peers' programs include.
  String HEADER = "perf.h";

  /// One program that speaks as `RankReport` reads, run afresh in each round.
  ///
  /// @param title who it is, for messages
  static Contestant program(String title, List<String> command, MeasuringPlan plan) {
    List<String> words = List.copyOf(command);
    return stage -> {
      Child.ChildOutput outcome = Child.run(words, stage.variables(), stage.limit(plan));
      if (outcome.exit() != 0) {
        throw new PerfException.Failed(
            "%s ended with status %d:%n%s%n(%s)"
                .formatted(title, outcome.exit(), outcome.lastWords(), String.join(" ", words)));
      }
      return RankReport.parse(outcome.out(), plan);
    };
  }

  /// Ready to run one plan.
  @FunctionalInterface
  interface Contestant {

    /// One round in fresh processes, none of which is left on return. Throws
    /// `PerfException.Failed`.
    RankReport round(PeerSetup stage) throws InterruptedException;

    /// One round without others.
    default RankReport round() throws InterruptedException {
      return round(PeerSetup.ALONE);
    }
  }

  /// What a round takes place in.
  ///
  /// @param variables that all its ranks are given beside their own
  /// @param contestants that take turns, at least 1
  record PeerSetup(Map<String, String> variables, int contestants) {

    /// Nobody else.
    static final PeerSetup ALONE = new PeerSetup(Map.of(), 1);

    public PeerSetup {
      variables = Map.copyOf(variables);
    }

    /// How long a round may take, in which all others have their turns as well.
    Duration limit(MeasuringPlan plan) {
      return plan.limit().multipliedBy(contestants);
    }
  }
}
