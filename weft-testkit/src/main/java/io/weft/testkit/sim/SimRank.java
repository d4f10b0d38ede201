// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.Weft;
import io.weft.WeftConfig;
import java.time.Duration;
import java.util.random.RandomGenerator;

/// A simulated program's view of its process. Only the program's own thread may use it.
public interface SimRank {

  /// Returns the world rank.
  int rank();

  /// Returns the number of ranks in the job.
  int size();

  /// Returns the number of earlier processes of this rank: 0 for the first one.
  int incarnation();

  /// Returns the number of its host.
  int host();

  /// Joins the job with the simulation's settings, like `Weft.init`. The program closes the result.
  Weft join();

  /// Joins the job with these settings. The program closes the result.
  Weft join(WeftConfig config);

  /// Computes for this time: virtual time passes, and the rank's progress thread continues.
  void compute(Duration time);

  /// Returns the virtual time since the simulation began.
  Duration now();

  /// Returns random numbers derived from the simulation's seed and this rank.
  RandomGenerator random();
}
