// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.metrics;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/// Where the time of a job went, from the start of its processes to the end of the training: means
/// over the ranks, in seconds; the parts add up to the whole. Immutable.
///
/// @param wallSeconds all of it
/// @param startUpSeconds until the first step: processes, joining, data, building the model
/// @param computeSeconds in steps, neither communicating nor reading input; communication that is
///   hidden counts here
/// @param exposedSeconds communicating while nothing is computed
/// @param waitingSeconds for a rank that was later than the others, by that rank
/// @param inputSeconds preparing the input of steps
/// @param checkpointSeconds writing checkpoints
/// @param evaluationSeconds testing what was trained
/// @param otherSeconds the rest: between steps and epochs, and recovering from a lost rank
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

  /// Part of all time that was spent computing, 0 to 1.
  public double share() {
    return wallSeconds == 0 ? 0 : computeSeconds / wallSeconds;
  }

  /// Of sums over ranks: times by `TimeUse`, then waiting by rank, in nanoseconds. Where what was
  /// measured is more than the wall time, as rounding has it, the wall time is what was measured.
  ///
  /// @param sums as `GoodputMeter.nanos` of each rank gives them, added
  /// @param wallNanos sum over the ranks
  /// @param ranks that were added
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
