// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Who runs beside Weft.
interface KvPeer {

  /// The peer of a word of the command line. Throws `IllegalArgumentException` for a word that is
  /// none.
  ///
  /// @param psLite where ps-lite's program is; null = not told
  static KvPeer parse(String word, @Nullable Path psLite) {
    return word.equals(PsLite.WORD) ? PsLite.at(psLite) : StorePeer.parse(word);
  }

  /// The word of the command line.
  String word();

  /// Whether it compares its values.
  boolean compares();

  /// Throws `IllegalArgumentException` for what it cannot run.
  void check(List<KvCase> cases);

  /// Throws `PerfException.Missing` for what it needs and is not there.
  void prepare();

  /// Runs it to its end.
  KvRun run(KvPlan plan, Duration limit) throws InterruptedException;
}
