// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.WeftConfig;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/// Jobs of a few ranks in this process.
final class SmallJob {

  private SmallJob() {}

  /// Runs `body` on each rank over this transport and returns the results.
  static <T> List<T> run(int ranks, String transport, LocalJob.Body<T> body) {
    WeftConfig config =
        WeftConfig.load(
            Map.of("WEFT_TRANSPORT", transport, "WEFT_DEADLINE", "30s"), new Properties());
    try (LocalJob job = LocalJob.start(ranks, config)) {
      return job.run(body);
    }
  }
}
