// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import io.weft.transport.limit.ClampedDuration;
import io.weft.workloads.training.Shrink;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingSettings;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A printer of training progress: on a terminal one line that is redrawn, elsewhere a line every
/// few seconds.
public final class ProgressPrinter implements TrainingObserver {

  private static final double TERMINAL_SECONDS = 0.2;
  private static final double LOG_SECONDS = 5;
  static final String ERASE = "\r\u001b[K";
  private static final double KEPT = 0.9;

  private final PrintWriter err;
  private final Preparation preparation;
  private final BooleanSupplier speaks;
  private final Style style;
  private final TrainingSettings settings;
  private @Nullable Start start;
  private double shownAt = Double.NEGATIVE_INFINITY;

  // Sums of a weighted mean of all losses: the weight of a step is 0.9 times that of the next one.
  private double losses;
  private double weights;

  private @Nullable TrainedStep first;
  private String accuracy = "";
  private volatile boolean unsaved;

  /// The style of progress lines.
  public enum Style {
    /// One line, redrawn in place.
    TERMINAL,
    /// One line after another.
    LOG
  }

  /// Creates a printer for a run with these settings.
  ///
  /// @param preparation the reports before the first step, which ends them
  /// @param speaks returns whether this rank currently reports; other ranks print nothing
  public ProgressPrinter(
      PrintWriter err,
      Preparation preparation,
      Style style,
      TrainingSettings settings,
      BooleanSupplier speaks) {
    this.err = err;
    this.preparation = preparation;
    this.speaks = speaks;
    this.style = style;
    this.settings = settings;
  }

  @Override
  public void onStart(Start begun) {
    start = begun;
    line(
        String.format(
            Locale.ROOT,
            "training on %s: %,d examples, %,d parameters, %d steps an epoch",
            begun.dataset(),
            begun.examples(),
            begun.parameters(),
            begun.stepsPerEpoch()));
    if (begun.epochsDone() >= settings.epochs()) {
      line("the checkpoint has all " + begun.epochsDone() + " epochs already");
    } else if (begun.epochsDone() > 0) {
      line("resumed after epoch " + begun.epochsDone());
    }
    preparation.begin("the first step, for which the engine prepares its kernels");
  }

  @Override
  public void onStep(TrainedStep step) {
    preparation.close();
    Start begun = start;
    if (begun == null) {
      return;
    }
    losses = KEPT * losses + step.loss();
    weights = KEPT * weights + 1;
    // The first step builds the engine's kernels, so speed and time left count from its end.
    TrainedStep from = first;
    if (from == null) {
      first = step;
      return;
    }
    double interval = style == Style.TERMINAL ? TERMINAL_SECONDS : LOG_SECONDS;
    if (step.seconds() - shownAt < interval) {
      return;
    }
    shownAt = step.seconds();
    long done = steps(from, step, begun);
    double perStep = (step.seconds() - from.seconds()) / done;
    long before = (long) (step.epoch() - 1) * begun.stepsPerEpoch() + step.step();
    long left = settings.limit().steps(settings.epochs(), begun.stepsPerEpoch()) - before;
    double secondsLeft =
        settings
            .limit()
            .time()
            .map(
                limit ->
                    Math.clamp(
                        ClampedDuration.millis(limit) / 1e3 - step.seconds(), 0, perStep * left))
            .orElse(perStep * left);
    String text =
        String.format(
            Locale.ROOT,
            "epoch %s  step %d/%d  loss %.4f  %.0f samples/s  %s left%s",
            ofEpochs(step.epoch()),
            step.step(),
            begun.stepsPerEpoch(),
            losses / weights,
            settings.batch() / perStep,
            time(secondsLeft),
            accuracy);
    if (style == Style.TERMINAL) {
      if (speaks.getAsBoolean()) {
        err.print(ERASE + text);
        err.flush();
      }
    } else {
      line(text);
    }
  }

  @Override
  public void onEpoch(TrainedEpoch epoch) {
    String tested = "";
    if (!Double.isNaN(epoch.accuracy())) {
      accuracy = String.format(Locale.ROOT, "  accuracy %.4f", epoch.accuracy());
      tested = String.format(Locale.ROOT, ", test accuracy %.4f", epoch.accuracy());
    }
    line(
        String.format(
            Locale.ROOT,
            "epoch %s done: mean loss %.4f%s",
            ofEpochs(epoch.epoch()),
            epoch.loss(),
            tested));
  }

  /// Returns the epoch, without the number of epochs if a limit ends the run.
  private String ofEpochs(int epoch) {
    return settings.limit().isPresent() ? "" + epoch : epoch + "/" + settings.epochs();
  }

  @Override
  public void onUnsaved(String why) {
    unsaved = true;
    line(why);
  }

  @Override
  public void onDivergence(String what) {
    line(what);
  }

  @Override
  public void onTuned(String what) {
    line(what);
  }

  @Override
  public void onBalance(long step, List<Integer> shares) {
    line("balance: examples of each rank after step " + step + ": " + shares);
  }

  /// Returns whether a checkpoint could not be written. Any thread may call it.
  public boolean isUnsaved() {
    return unsaved;
  }

  private static long steps(TrainedStep from, TrainedStep to, Start begun) {
    return (long) (to.epoch() - from.epoch()) * begun.stepsPerEpoch() + to.step() - from.step();
  }

  @Override
  public void onShrink(Shrink shrink, String why) {
    line(why);
    line(
        shrink.lost().isEmpty()
            ? String.format(
                Locale.ROOT,
                "no rank is lost; going on with %d after step %d (%.1f s)",
                shrink.survivors(),
                shrink.step(),
                shrink.seconds())
            : String.format(
                Locale.ROOT,
                "lost %s; going on with %d rank%s after step %d (%.1f s)",
                Summary.ranks(shrink.lost()),
                shrink.survivors(),
                shrink.survivors() == 1 ? "" : "s",
                shrink.step(),
                shrink.seconds()));
  }

  private void line(String text) {
    if (!speaks.getAsBoolean()) {
      return;
    }
    err.println(style == Style.TERMINAL ? ERASE + text : text);
    err.flush();
  }

  private static String time(double seconds) {
    long whole = Math.round(seconds);
    return whole >= 3600
        ? String.format(Locale.ROOT, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60)
        : String.format(Locale.ROOT, "%d:%02d", whole / 60, whole % 60);
  }
}
