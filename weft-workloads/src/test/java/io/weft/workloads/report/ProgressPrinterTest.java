// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.training.TrainingObserver;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ProgressPrinterTest {

  private final StringWriter text = new StringWriter();

  @Test
  void aLogGetsALineEveryFewSeconds() {
    ProgressPrinter progress = started(ProgressPrinter.Style.LOG, 0);
    for (int s = 1; s <= 100; s++) {
      progress.onStep(new TrainingObserver.TrainedStep(1, s, 2.0 / s, s * 0.1));
    }
    progress.onEpoch(new TrainingObserver.TrainedEpoch(1, 0.5, 0.91));
    assertThat(text.toString().lines())
        .hasSize(3)
        .anyMatch(l -> l.startsWith("epoch 1/2  step 52/100") && l.contains("320 samples/s"))
        .anyMatch(l -> l.contains("0:15 left"))
        .anyMatch(l -> l.equals("epoch 1/2 done: mean loss 0.5000, test accuracy 0.9100"));
  }

  @Test
  void aTerminalGetsOneLineThatIsRedrawn() {
    ProgressPrinter progress = started(ProgressPrinter.Style.TERMINAL, 0);
    for (int s = 1; s <= 10; s++) {
      progress.onStep(new TrainingObserver.TrainedStep(1, s, 1, s));
    }
    assertThat(text.toString().split("\r", -1)).hasSize(11);
    assertThat(text.toString().chars().filter(c -> c == '\n').count()).isEqualTo(1);
    assertThat(text.toString()).contains("\r\u001b[Kepoch 1/2  step 10/100");
  }

  @Test
  void aResumedRunIsReportedAndCountsFromItsEpoch() {
    ProgressPrinter progress = started(ProgressPrinter.Style.LOG, 1);
    progress.onStep(new TrainingObserver.TrainedStep(2, 49, 1, 9.8));
    progress.onStep(new TrainingObserver.TrainedStep(2, 50, 1, 10));
    assertThat(text.toString()).contains("resumed after epoch 1").contains("0:10 left");
  }

  private ProgressPrinter started(ProgressPrinter.Style style, int epochsDone) {
    PrintWriter err = new PrintWriter(text, true);
    var silent = new Preparation(err, style, () -> false, () -> 0);
    var progress = new ProgressPrinter(err, silent, style, Reports.SETTINGS, () -> true);
    progress.onStart(new TrainingObserver.Start("digits", 10, 3200, 100, epochsDone));
    text.getBuffer().setLength(0);
    if (epochsDone > 0 || style == ProgressPrinter.Style.TERMINAL) {
      progress.onStart(new TrainingObserver.Start("digits", 10, 3200, 100, epochsDone));
    }
    return progress;
  }
}
