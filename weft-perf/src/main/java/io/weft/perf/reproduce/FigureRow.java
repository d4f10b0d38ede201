// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.perf.report.Figure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The row of a figure while its trial fills it. Confined to one thread.
final class FigureRow {

  /// The verdict where the result and the document agree.
  static final String AGREES = "agrees";

  /// The verdict where only other hardware could show the result.
  static final String NEEDS_CARDS = "needs cards that are not here";

  /// The verdict of a row whose measurement is missing.
  static final String NOT_JUDGED = "not judged: the note says what is missing";

  private final PaperFigure figure;
  private final ReproductionMode mode;
  private final WeftRuns runs;
  private final DocumentNetworks networks;
  private final Set<String> commands = new LinkedHashSet<>();
  private final List<String> notes = new ArrayList<>();
  private final List<Map<String, Object>> curves = new ArrayList<>();
  private @Nullable String measured;
  private @Nullable String simulated;
  private @Nullable Double ratio;
  private String verdict = NOT_JUDGED;
  private String across = "";
  private String up = "";
  private boolean isIncomplete;

  FigureRow(PaperFigure figure, ReproductionMode mode, WeftRuns runs, DocumentNetworks networks) {
    this.figure = figure;
    this.mode = mode;
    this.runs = runs;
    this.networks = networks;
  }

  ReproductionMode mode() {
    return mode;
  }

  DocumentNetworks networks() {
    return networks;
  }

  /// Returns the report of a command, which the row will name. Throws `PerfException` if it fails.
  RunReport run(WeftRun run) throws InterruptedException {
    commands.add(run.text());
    return runs.report(run);
  }

  /// Names a command that shows more, without running it.
  void shownBy(String command) {
    commands.add(command);
  }

  void measured(String text) {
    measured = text;
  }

  void simulated(String text) {
    simulated = text;
  }

  void note(String text) {
    notes.add(text);
  }

  void verdict(String text) {
    verdict = text;
  }

  /// Marks a row that the next reproduction measures again.
  void incomplete(String reason) {
    notes.add(reason);
    isIncomplete = true;
  }

  /// Compares a result with the document's number or range. It agrees within a tolerance.
  ///
  /// @param tolerance accepted deviation as a fraction
  /// @param because reason of a larger deviation
  void compare(double ours, double least, double most, double tolerance, String because) {
    double nearest = Math.clamp(ours, least, most);
    ratio = Figure.rounded(ours / nearest);
    judge(ours >= least * (1 - tolerance) && ours <= most * (1 + tolerance), because);
  }

  /// Compares a result with the document's statement about a shape or an order. The verdict is
  /// about the simulation if nothing has been measured before.
  void judge(boolean agrees, String because) {
    String first = agrees ? AGREES : "differs because " + because;
    verdict = measured == null && simulated != null ? first + " (simulated)" : first;
  }

  /// Labels the axes of the row's plot.
  void axes(String horizontal, String vertical) {
    across = horizontal;
    up = vertical;
  }

  /// Adds a curve to the row's plot.
  ///
  /// @param xs positions, at least 1
  /// @param ys values, above 0
  void curve(String name, List<? extends Number> xs, List<Double> ys) {
    Map<String, Object> curve = new LinkedHashMap<>();
    curve.put("name", name);
    curve.put("across", xs.stream().map(Number::doubleValue).toList());
    curve.put("up", ys.stream().map(Figure::rounded).toList());
    curves.add(curve);
  }

  /// Returns the finished row, without absent results.
  ///
  /// @param host words about this machine
  Figure finished(String host) {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("document", figure.document());
    values.put("figure", figure.name());
    values.put("claim", figure.claim());
    if (measured != null) {
      values.put("measured", measured);
    }
    if (simulated != null) {
      values.put("simulated", simulated);
    }
    if (ratio != null) {
      values.put("ratio", ratio);
    }
    values.put("verdict", verdict);
    values.put("command", String.join(" ; ", commands));
    values.put("note", String.join(". ", notes));
    values.put("mode", mode.word());
    values.put("host", host);
    if (isIncomplete) {
      values.put("incomplete", true);
    }
    if (!curves.isEmpty()) {
      values.put("across", across);
      values.put("up", up);
      values.put("curves", curves);
    }
    return new Figure(values);
  }
}
