// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.perf.report.RankReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A system that Weft is compared with.
interface KvPeer {

  /// Returns the peer named on the command line. Throws `IllegalArgumentException` for an unknown
  /// name.
  ///
  /// @param psLite path of ps-lite's program, null if absent
  static KvPeer parse(String word, @Nullable Path psLite) {
    return word.equals(PsLite.WORD) ? PsLite.at(psLite) : StorePeer.parse(word);
  }

  /// Returns the name on the command line.
  String word();

  /// Throws `IllegalArgumentException` for cases that the peer cannot run.
  void check(List<KvPlan> cases);

  /// Throws `PerfException.Missing` if a requirement is missing.
  void prepare();

  /// Runs the peer to its end. The only sample has the key `KvPlan.CASE` and the figure `total`.
  RankReport run(KvPlan plan, Duration limit) throws InterruptedException;
}
