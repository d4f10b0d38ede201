// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.perf.process.PerfException;
import io.weft.perf.report.Figure;

/// The trials of figures. A trial that fails leaves a note in its row, and the next one follows.
/// Confined to one thread.
final class Reproduction {

  private final ReproductionMode mode;
  private final FigureRows rows;
  private final WeftRuns runs;
  private final String host;
  private final DocumentNetworks networks = new DocumentNetworks();

  /// @param host words about this machine
  Reproduction(ReproductionMode mode, FigureRows rows, WeftRuns runs, String host) {
    this.mode = mode;
    this.rows = rows;
    this.runs = runs;
    this.host = host;
  }

  /// Measures and simulates a figure, and keeps its row. Throws `PerfException.Failed` if the row
  /// cannot be written.
  Figure reproduce(PaperFigure figure) throws InterruptedException {
    FigureRow row = new FigureRow(figure, mode, runs, networks);
    try {
      figure.trial().fill(row);
    } catch (PerfException.Missing missing) {
      row.note("Missing here: " + missing.getMessage());
    } catch (PerfException failed) {
      row.note("Failed: " + failed.getMessage());
    } catch (WeftRuns.OutOfTime late) {
      row.incomplete(String.valueOf(late.getMessage()));
    } catch (LinkageError noTensorFlow) {
      row.note(
          "Missing here: TensorFlow cannot be loaded (%s); 'weft doctor' names the remedy"
              .formatted(noTensorFlow));
    }
    Figure finished = row.finished(host);
    rows.add(finished);
    return finished;
  }
}
