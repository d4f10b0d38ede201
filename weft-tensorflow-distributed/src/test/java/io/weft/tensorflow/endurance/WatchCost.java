// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.endurance;

import io.weft.Weft;
import io.weft.rendezvous.RendezvousKey;
import io.weft.testkit.job.LocalJob;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Locale;

/// The cost of a part's watch (docs/adr/0052). A part that sends one tensor of four bytes to its
/// own task and receives it runs alternately with and without its watch, within one process. One
/// thread.
final class WatchCost {

  private static final int TURNS = 20;
  private static final int WARM_UP_STEPS = 3000;
  private static final double NANOS_PER_MICRO = 1e3;

  private final Weft weft;
  private long number;

  private WatchCost(Weft weft) {
    this.weft = weft;
  }

  /// Prints the median step with and without the watch, and the median difference of the pairs.
  ///
  /// @param steps number of steps with and without the watch, at least 20
  static void run(int steps, PrintStream out) {
    if (steps < TURNS) {
      throw new IllegalArgumentException(steps + " steps; at least " + TURNS);
    }
    try (LocalJob job = LocalJob.over("inproc", 1)) {
      new WatchCost(job.ranks().getFirst()).measure(steps / TURNS, out);
    }
  }

  private void measure(int each, PrintStream out) {
    try (WatchedPart watched = WatchedPart.of(weft, true);
        WatchedPart plain = WatchedPart.of(weft, false)) {
      double unused = median(watched, WARM_UP_STEPS) + median(plain, WARM_UP_STEPS);
      double[] with = new double[TURNS];
      double[] without = new double[TURNS];
      double[] more = new double[TURNS];
      for (int turn = 0; turn < TURNS; turn++) {
        with[turn] = median(watched, each);
        without[turn] = median(plain, each);
        more[turn] = with[turn] - without[turn];
      }
      out.printf(
          Locale.ROOT,
          "%d turns of %d steps of a part that sends and receives 4 B: with its watch %.1f us,"
              + " without %.1f us; of pairs of turns %+.1f us (%.1f to %.1f)%n",
          TURNS,
          each,
          middle(with),
          middle(without),
          middle(more),
          more[TURNS / 4],
          more[TURNS - 1 - TURNS / 4]);
    }
  }

  /// Returns the median duration of a step in microseconds.
  private double median(WatchedPart part, int steps) {
    double[] micros = new double[steps];
    for (int i = 0; i < steps; i++) {
      long step = RendezvousKey.step(1, number++);
      long begin = System.nanoTime();
      part.run(step);
      micros[i] = (System.nanoTime() - begin) / NANOS_PER_MICRO;
      weft.rendezvous().end(step);
    }
    return middle(micros);
  }

  /// Sorts the values and returns their median.
  private static double middle(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
