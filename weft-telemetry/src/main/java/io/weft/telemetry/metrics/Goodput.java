// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/// The division of a job's time, from the start of its processes to the end of the training. Values
/// are means over the ranks, in seconds; the parts add up to the whole. Immutable.
///
/// @param wallSeconds the whole time
/// @param startUpSeconds time before the first step: starting processes, joining, loading data,
///   building the model
/// @param computeSeconds time in steps, neither communicating nor reading input; includes hidden
///   communication
/// @param exposedSeconds time communicating without computation
/// @param waitingSeconds time waiting for a rank that was later than the others, by that rank
/// @param inputSeconds time preparing the input of steps
/// @param checkpointSeconds time writing checkpoints
/// @param evaluationSeconds time evaluating the trained model
/// @param otherSeconds the rest: between steps and epochs, and recovery from a lost rank
public record Goodput(
    double wallSeconds,
    double startUpSeconds,
    double computeSeconds,
    double exposedSeconds,
    Map<Integer, Double> waitingSeconds,
    double inputSeconds,
    double checkpointSeconds,
    double evaluationSeconds,
    double otherSeconds) {

  /// Copies the map.
  public Goodput {
    waitingSeconds = Collections.unmodifiableMap(new TreeMap<>(waitingSeconds));
  }

  /// Returns the fraction of the whole time that was spent computing, 0 to 1.
  public double share() {
    return wallSeconds == 0 ? 0 : computeSeconds / wallSeconds;
  }

  /// Returns the goodput of sums over ranks: times by `TimeUse`, then waiting by rank, in
  /// nanoseconds. If the measured parts exceed the wall time because of rounding, their sum becomes
  /// the wall time.
  ///
  /// @param sums the ranks' results of `GoodputMeter.nanos`, added
  /// @param wallNanos wall time, added over the ranks
  /// @param ranks the number of added ranks
  public static Goodput ofSums(double[] sums, double wallNanos, int ranks) {
    double unit = 1e9 * ranks;
    Map<Integer, Double> waiting = new TreeMap<>();
    double waited = 0;
    for (int rank = 0; rank < sums.length - TimeUse.COUNT; rank++) {
      double seconds = sums[TimeUse.COUNT + rank] / unit;
      if (seconds > 0) {
        waiting.put(rank, seconds);
        waited += seconds;
      }
    }
    double known = 0;
    for (int use = 0; use < TimeUse.COUNT; use++) {
      known += sums[use] / unit;
    }
    double exposed = Math.max(0, sums[TimeUse.COMMUNICATION.place()] / unit - waited);
    known += exposed + waited - sums[TimeUse.COMMUNICATION.place()] / unit;
    double wall = Math.max(known, wallNanos / unit);
    return new Goodput(
        wall,
        sums[TimeUse.START_UP.place()] / unit,
        sums[TimeUse.COMPUTE.place()] / unit,
        exposed,
        waiting,
        sums[TimeUse.INPUT.place()] / unit,
        sums[TimeUse.CHECKPOINT.place()] / unit,
        sums[TimeUse.EVALUATION.place()] / unit,
        wall - known);
  }
}
