// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.Weft;
import io.weft.WeftConfig;
import java.time.Duration;
import java.util.random.RandomGenerator;

/// What a simulated program knows of its process. Only the program's own thread may use it.
public interface SimRank {

  /// World rank.
  int rank();

  /// Ranks in the job.
  int size();

  /// Number of its host.
  int host();

  /// Joins the job with the simulation's settings, as `Weft.init` does. The program closes it.
  Weft join();

  /// The same with these settings.
  Weft join(WeftConfig config);

  /// Computes for so long: virtual time passes, and the rank's progress thread goes on meanwhile.
  void compute(Duration time);

  /// Virtual time since the simulation began.
  Duration now();

  /// Chance, from the simulation's seed and this rank.
  RandomGenerator random();
}
