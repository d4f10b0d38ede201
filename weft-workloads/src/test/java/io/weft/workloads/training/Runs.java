// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.agent.Ticker;
import io.weft.cluster.elastic.OnFailure;
import io.weft.telemetry.timeline.Timeline;
import io.weft.testkit.job.LocalJob;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.digits.SyntheticDigits;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/// Small runs for the tests of training.
final class Runs {

  static final DataSource DIGITS = new SyntheticDigits(1, 1000, 201);

  private Runs() {}

  static TrainingSettings settings(int epochs) {
    return new TrainingSettings(
        Workload.MNIST_DNN,
        epochs,
        50,
        0.05f,
        OptimizerKind.MOMENTUM,
        7,
        new Sync.Gradients(),
        ReadMode.SHARDED,
        Optional.empty());
  }

  static TrainingSettings with(
      TrainingSettings s, Sync sync, ReadMode read, Optional<Path> checkpoint) {
    return new TrainingSettings(
        s.workload(),
        s.epochs(),
        s.batch(),
        s.rate(),
        s.optimizer(),
        s.seed(),
        sync,
        read,
        checkpoint);
  }

  static TrainingSettings saving(TrainingSettings s, Path checkpoint) {
    return with(s, s.sync(), s.read(), Optional.of(checkpoint));
  }

  static TrainingOutcome alone(TrainingSettings settings) {
    return new Trainer(settings, DIGITS, new SoloJob(), TrainingObserver.SILENT).run();
  }

  static <T> List<T> onAll(int ranks, Function<TrainingJob, T> body) {
    return onAll(ranks, WeftConfig.builder().transport("inproc").build(), body);
  }

  static <T> List<T> onAll(int ranks, WeftConfig config, Function<TrainingJob, T> body) {
    try (LocalJob job = LocalJob.start(ranks, config)) {
      return job.run(weft -> body.apply(job(weft)));
    }
  }

  /// Runs ranks that continue without lost ranks.
  static <T> List<T> goingOn(int ranks, Function<TrainingJob, T> body) {
    WeftConfig config = WeftConfig.builder().transport("tcp").onFailure(OnFailure.SHRINK).build();
    try (LocalJob job = LocalJob.start(ranks, config)) {
      return job.run(
          weft -> {
            try {
              return body.apply(job(weft));
            } finally {
              weft.close();
            }
          });
    }
  }

  private static TrainingJob job(Weft weft) {
    return TrainingJob.of(weft, OptionalInt.empty(), new Timeline(Ticker.SYSTEM, Timeline.FEWEST));
  }

  static List<TrainingOutcome> together(
      int ranks, TrainingSettings settings, TrainingObserver observer) {
    return onAll(ranks, job -> new Trainer(settings, DIGITS, job, observer).run());
  }

  static List<TrainingOutcome> together(int ranks, TrainingSettings settings) {
    return together(ranks, settings, TrainingObserver.SILENT);
  }
}
