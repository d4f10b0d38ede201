// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.cluster.SecureMode;
import io.weft.perf.experiment.LinkedRanks;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.report.RankReport;
import java.time.Duration;

/// Weft's ranks that replay a plan, in new processes for each round. They run on this host, or half
/// of them in each of two network namespaces with a link of limited speed between them.
///
/// @param plan the replayed plan
/// @param carrier number of ranks, transport and link
/// @param secure the encryption of connections
/// @param limit time limit of a round
public record GradientsContestant(
    GradientsPlan plan, GradientsFigures.Carrier carrier, SecureMode secure, Duration limit) {

  private static final long OVERHEAD_BYTES = 1L << 30;

  /// Runs one round in new processes, which all end. Throws `PerfException.Failed`, or
  /// `PerfException.Missing` if network namespaces are unavailable.
  public RankReport round() throws InterruptedException {
    long direct = OVERHEAD_BYTES + 3 * plan.gradients().bytes();
    LocalRanks ranks = new LocalRanks(GradientsRank.class, carrier.ranks(), direct);
    return RankReport.parse(
        new LinkedRanks(ranks, carrier.transport(), secure, carrier.gbit())
            .run(plan.words(), limit));
  }
}
