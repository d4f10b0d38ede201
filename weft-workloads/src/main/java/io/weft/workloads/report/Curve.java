// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import static java.util.stream.Collectors.averagingDouble;

import io.weft.workloads.training.TrainingOutcome;
import java.util.ArrayList;
import java.util.List;

/// One curve of a plot.
///
/// @param title of the vertical axis
/// @param x steps since the start of training
/// @param y values at these steps
record Curve(String title, List<Double> x, List<Double> y) {

  private static final int POINTS = 200;

  /// Returns loss, accuracy and speed over a run, without curves that have no points. If there are
  /// more than 200 steps, their values are averaged in groups.
  static List<Curve> of(TrainingOutcome outcome, int batch) {
    int steps = outcome.losses().size();
    int epochs = outcome.accuracies().size();
    List<Long> nanos = outcome.timing().stepNanos();
    var loss = averaged("training loss", outcome.losses(), 0);
    var accuracy = new Curve("test accuracy", new ArrayList<>(), new ArrayList<>());
    for (int e = 0; e < epochs; e++) {
      accuracy.x.add((double) steps / epochs * (e + 1));
      accuracy.y.add(outcome.accuracies().get(e));
    }
    var seconds = new ArrayList<Double>();
    for (long step : nanos) {
      seconds.add(step / 1e9);
    }
    var time = averaged("samples per second", seconds, steps - nanos.size());
    var speed = new Curve(time.title, time.x, time.y.stream().map(mean -> batch / mean).toList());
    return List.of(loss, accuracy, speed).stream().filter(c -> !c.x.isEmpty()).toList();
  }

  private static Curve averaged(String title, List<Double> values, int first) {
    int group = Math.ceilDiv(Math.max(1, values.size()), POINTS);
    var curve = new Curve(title, new ArrayList<>(), new ArrayList<>());
    for (int from = 0; from < values.size(); from += group) {
      int to = Math.min(values.size(), from + group);
      curve.x.add(first + (from + 1 + to) / 2.0);
      curve.y.add(values.subList(from, to).stream().collect(averagingDouble(v -> v)));
    }
    return curve;
  }
}
