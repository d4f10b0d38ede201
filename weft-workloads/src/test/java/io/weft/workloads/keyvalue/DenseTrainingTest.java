// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.WeftConfig;
import io.weft.agent.Ticker;
import io.weft.telemetry.timeline.Timeline;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.spi.TransportProvider;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.digits.SyntheticDigits;
import io.weft.workloads.model.Hidden;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.parameterserver.ServedResult;
import io.weft.workloads.parameterserver.ServedTraining;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.pictures.SyntheticPictures;
import io.weft.workloads.training.ReadMode;
import io.weft.workloads.training.SoloJob;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.Trainer;
import io.weft.workloads.training.TrainingJob;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingOutcome;
import io.weft.workloads.training.TrainingSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks a network of dense layers whose weights are tensors on two servers, with two workers,
/// within one process.
@Timeout(600)
class DenseTrainingTest {

  private static final Servers TWO_AND_TWO = new Servers(Servers.Via.PS, 2, 2, 0);
  private static final DataSource DIGITS = new SyntheticDigits(1, 2048, 400);
  private static final int BATCH = 64;
  private static final int STEPS = 2 * 2048 / BATCH;
  private static final int VARIABLES = 6;

  private static TrainingSettings settings(OptimizerKind optimizer, Sync sync) {
    return new TrainingSettings(
        Workload.MNIST_DNN,
        2,
        BATCH,
        Workload.MNIST_DNN.defaultRate(optimizer),
        optimizer,
        7,
        sync,
        ReadMode.SHARDED,
        Optional.empty());
  }

  private static TrainingOutcome reduced(TrainingSettings settings) {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      return job.run(
              weft -> {
                var timeline = new Timeline(Ticker.SYSTEM, Timeline.FEWEST);
                var alone = TrainingJob.of(weft, OptionalInt.of(1), timeline);
                return new Trainer(settings, DIGITS, alone, TrainingObserver.SILENT).run();
              })
          .getFirst();
    }
  }

  private static ServedResult served(TrainingSettings settings, String transport) {
    return served(settings, DIGITS, transport);
  }

  private static ServedResult served(
      TrainingSettings settings, DataSource source, String transport) {
    WeftConfig config =
        WeftConfig.builder().transport(transport).deadline(Duration.ofMinutes(5)).build();
    try (LocalJob job = LocalJob.start(TWO_AND_TWO.ranks(), config)) {
      return result(job, settings, TWO_AND_TWO, source);
    }
  }

  /// Trains on all ranks of a job. Returns the result of the worker that has it.
  static ServedResult result(
      LocalJob job, TrainingSettings settings, Servers servers, DataSource source) {
    return job
        .run(
            weft -> {
              try (weft) {
                return new KeyValueTraining(
                        new ServedTraining(
                            settings, servers, source, weft, 1, TrainingObserver.SILENT))
                    .run();
              }
            })
        .stream()
        .flatMap(Optional::stream)
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @EnumSource
  void synchronousServersGiveTheLossesOfAllreduce(OptimizerKind optimizer) {
    TrainingSettings settings = settings(optimizer, new Sync.Gradients());
    TrainingOutcome reduced = reduced(settings);
    ServedResult served = served(settings, "tcp");
    // Adam's step divides by roots of small numbers, which TensorFlow rounds differently.
    double near = optimizer == OptimizerKind.ADAM ? 1e-3 : 1e-5;
    assertThat(served.outcome().finalLoss()).isCloseTo(reduced.finalLoss(), within(near));
    assertThat(served.outcome().accuracies().getLast())
        .isCloseTo(reduced.accuracies().getLast(), within(0.01));
    assertThat(served.facts().tables().staleness().max()).isZero();
    assertThat(served.facts().tables().exposedShare()).isBetween(0.0, 1.0);
    if (optimizer == OptimizerKind.SGD || optimizer == OptimizerKind.MOMENTUM) {
      assertThat(served.outcome().digests()).containsExactly(reduced.digests().getFirst());
    }
  }

  @Test
  void boundedStalenessLearnsAndItsBoundHolds() {
    ServedResult served = served(settings(OptimizerKind.MOMENTUM, new Sync.Bounded(3)), "shm");
    assertThat(served.outcome().accuracies().getLast()).isGreaterThan(0.5);
    assertThat(served.facts().mode()).isEqualTo("ssp:3");
    assertThat(served.facts().tables().staleness().max()).isBetween(0L, 3L);
    assertThat(served.facts().tables().pushes()).isEqualTo(2L * VARIABLES * STEPS);
    assertThat(served.facts().tables().pulls()).isEqualTo(2L * VARIABLES * (STEPS + 1));
  }

  @Test
  void asynchronousWorkersLearn() {
    ServedResult served =
        served(settings(OptimizerKind.MOMENTUM, new Sync.Asynchronous()), "inproc");
    assertThat(served.outcome().accuracies().getLast()).isGreaterThan(0.5);
    assertThat(served.facts().mode()).isEqualTo("async");
    assertThat(served.outcome().losses()).hasSize(STEPS).allMatch(Double::isFinite);
  }

  @Test
  void picturesAreLearnedAsWellAsByOneProcess() {
    learnsPictures(Workload.CIFAR10_DNN);
  }

  @Tag("long")
  @Test
  void convolutionsLearnPicturesAsWellAsOneProcess() {
    learnsPictures(Workload.CIFAR10_CNN);
  }

  private static void learnsPictures(Workload workload) {
    var pictures = new SyntheticPictures(1, 1280, 400);
    var settings =
        new TrainingSettings(
            workload,
            3,
            BATCH,
            workload.defaultRate(OptimizerKind.MOMENTUM),
            OptimizerKind.MOMENTUM,
            7,
            new Sync.Gradients(),
            ReadMode.SHARDED,
            Optional.empty());
    double alone =
        new Trainer(settings, pictures, new SoloJob(), TrainingObserver.SILENT)
            .run()
            .accuracies()
            .getLast();
    assertThat(alone).isGreaterThan(0.8);
    assertThat(served(settings, pictures, "tcp").outcome().accuracies().getLast())
        .isCloseTo(alone, within(0.01));
  }

  @Test
  void enlargedLayersOfManyPartsAreTrained() {
    TrainingSettings settings =
        new TrainingSettings(
                Workload.MNIST_DNN,
                1,
                BATCH,
                0.02f,
                OptimizerKind.MOMENTUM,
                7,
                new Sync.Gradients(),
                ReadMode.SHARDED,
                Optional.empty())
            .with(Hidden.ENLARGED);
    var few = new SyntheticDigits(1, 512, 200);
    ServedResult served = served(settings, few, "shm");
    assertThat(settings.model(few.train()).parameters())
        .isEqualTo(784 * 2048 + 2048 + 2048 * 1024 + 1024 + 1024 * 10 + 10);
    double alone =
        new Trainer(settings, few, new SoloJob(), TrainingObserver.SILENT).run().finalLoss();
    assertThat(served.outcome().finalLoss()).isCloseTo(alone, within(1e-4));
    // The two workers are on one host, which pushes once.
    assertThat(served.facts().tables().pushes()).isEqualTo(VARIABLES * 8);
  }

  @Test
  void workersOfAHostPushTogetherAndLearnTheSame() {
    TrainingSettings settings = settings(OptimizerKind.MOMENTUM, new Sync.Gradients());
    var servers = new Servers(Servers.Via.PS, 4, 1, 0);
    ServedResult apart = across(settings, servers, List.of("s", "a", "b", "c", "d"));
    ServedResult together = across(settings, servers, List.of("s", "a", "a", "b", "b"));
    assertThat(apart.facts().tables().pushes()).isEqualTo(4L * VARIABLES * STEPS);
    assertThat(together.facts().tables().pushes()).isEqualTo(2L * VARIABLES * STEPS);
    assertThat(together.outcome().finalLoss()).isCloseTo(apart.outcome().finalLoss(), within(1e-5));
    assertThat(together.outcome().accuracies().getLast())
        .isCloseTo(apart.outcome().accuracies().getLast(), within(0.01));
  }

  private static ServedResult across(
      TrainingSettings settings, Servers servers, List<String> hosts) {
    WeftConfig config = WeftConfig.builder().transport("tcp").build();
    TransportProvider tcp = TransportProvider.find("tcp").orElseThrow();
    try (LocalJob job = LocalJob.across(hosts, config, host -> tcp)) {
      return result(job, settings, servers, DIGITS);
    }
  }
}
