// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.dataparallel.DataParallelConfig;
import io.weft.dataparallel.compress.Compression;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(180)
class GradientExchangeTest {

  /// A configuration that leaves an autotuner only the segments in flight.
  private static final WeftConfig FIXED =
      WeftConfig.builder()
          .transport("inproc")
          .set(DataParallelConfig.FUSION_THRESHOLD, "1M")
          .segmentBytes(32768)
          .build();

  private static TrainingOutcome trained(int ranks, GradientExchange exchange) {
    return Runs.together(ranks, Runs.settings(2).with(exchange)).getFirst();
  }

  private static GradientExchange compressed(String how) {
    return new GradientExchange.Averaged(Compression.parse(how));
  }

  @ParameterizedTest
  @CsvSource({"fp16, 0.51", "bf16, 0.51", "int8, 0.3", "int4, 0.2", "topk:0.1, 0.3"})
  void compressedGradientsLearnWithFewerBytes(String how, double part) {
    TrainingOutcome plain = trained(2, GradientExchange.PLAIN);
    TrainingOutcome compressed = trained(2, compressed(how));
    assertThat(compressed.digests()).hasSize(2).containsOnly(compressed.digests().getFirst());
    assertThat(compressed.digests().getFirst()).isNotEqualTo(plain.digests().getFirst());
    assertThat(compressed.losses().getLast()).isLessThan(0.7 * compressed.losses().getFirst());
    assertThat(compressed.traffic().bytesPerStep().orElseThrow())
        .isPositive()
        .isLessThan(part * plain.traffic().bytesPerStep().orElseThrow());
  }

  @Test
  void aStepSendsEachGradientOnceToEachOfTwoRanks() {
    TrainingOutcome plain = trained(2, GradientExchange.PLAIN);
    long parameters = 784 * 200 + 200 + 200 * 100 + 100 + 100 * 10 + 10;
    assertThat(plain.traffic().bytesPerStep().orElseThrow())
        .isBetween(1.95 * 4 * parameters, 2.1 * 4 * parameters);
    assertThat(Runs.alone(Runs.settings(1)).traffic().bytesPerStep()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"2", "3"})
  void sharesKeepTheBitsOfWeightsAndDivideTheState(int ranks) {
    TrainingOutcome plain = trained(ranks, GradientExchange.PLAIN);
    TrainingOutcome inShares = trained(ranks, new GradientExchange.InShares());
    assertThat(inShares.digests()).isEqualTo(plain.digests());
    assertThat(inShares.losses()).isEqualTo(plain.losses());
    long parameters = 784 * 200 + 200 + 200 * 100 + 100 + 100 * 10 + 10;
    assertThat(plain.optimizerBytes()).hasValue(4 * parameters);
    assertThat(inShares.optimizerBytes()).hasValue(4 * Math.ceilDiv(parameters, ranks));
  }

  @ParameterizedTest
  @CsvSource({"inproc", "tcp"})
  void fusionKeepsTheBitsOfWeights(String transport) {
    WeftConfig config =
        WeftConfig.builder().transport(transport).set(DataParallelConfig.FUSION, "on").build();
    TrainingSettings settings = Runs.settings(2);
    List<String> sets =
        Runs.onAll(
            2,
            config,
            job -> {
              var fusion = new AtomicBoolean();
              var trainer = new Trainer(settings, Runs.DIGITS, job, TrainingObserver.SILENT);
              job.observe(
                  new OperationObserver() {
                    @Override
                    public void submitted(ObservedOperation operation) {
                      if (operation.name().startsWith("weft/fusion-")) {
                        fusion.set(true);
                      }
                    }
                  });
              String digest = trainer.run().digests().getFirst();
              return digest + " " + fusion.get();
            });
    String plain = Runs.together(2, settings).getFirst().digests().getFirst();
    assertThat(sets).containsOnly(plain + " true");
  }

  @Tag("long")
  @Test
  void anAutotunerKeepsTheBitsOfWeightsAndLogsItsSamples() {
    TrainingSettings plain = Runs.settings(100);
    List<List<String>> logs =
        Runs.onAll(
            2,
            job -> {
              var trainer =
                  new Trainer(
                      plain.with(new GradientExchange.Tuned(Optional.empty())),
                      Runs.DIGITS,
                      job,
                      TrainingObserver.SILENT);
              String digest = trainer.run().digests().getFirst();
              assertThat(trainer.tuningLog()).hasSizeGreaterThan(1);
              List<String> all = new ArrayList<>(List.of(digest));
              all.addAll(trainer.tuningLog());
              return all;
            });
    assertThat(logs.get(0)).isEqualTo(logs.get(1));
    assertThat(logs.get(0).get(1))
        .isEqualTo("sample,fusion_threshold,segment_bytes,window,step_micros");
    assertThat(logs.get(0).get(2)).matches("1,[0-9]+,0,0,[0-9.E]+");
    assertThat(Runs.together(2, plain).getFirst().digests()).contains(logs.get(0).getFirst());
  }

  @Test
  void valuesOfAnAutotunerAreReusedOnlyByRunsOfTheSameKind(@TempDir Path store) {
    List<String> first = tunedBy(tuned(300, 50, store));
    assertThat(first)
        .allSatisfy(it -> assertThat(it).matches("autotune: found after \\d+ samples: .*"));
    String found = first.getFirst().replaceAll(".* samples: ", "");

    assertThat(tunedBy(tuned(1, 50, store)))
        .containsExactly(
            "autotune: reused values of an earlier run: " + found,
            "autotune: reused values of an earlier run: " + found);
    assertThat(tunedBy(tuned(1, 20, store)))
        .hasSize(2)
        .allSatisfy(it -> assertThat(it).contains("training ended before the search"));
  }

  @Tag("long")
  @Test
  void anAutotunerKeepsConfiguredValues() {
    TrainingSettings tuned = Runs.settings(60).with(new GradientExchange.Tuned(Optional.empty()));
    List<List<String>> logs =
        Runs.onAll(
            2,
            FIXED,
            job -> {
              var trainer = new Trainer(tuned, Runs.DIGITS, job, TrainingObserver.SILENT);
              trainer.run();
              return trainer.tuningLog();
            });
    assertThat(logs.getFirst()).hasSizeGreaterThan(2);
    assertThat(logs.getFirst().stream().skip(1))
        .allSatisfy(line -> assertThat(line).matches("\\d+,1048576,32768,\\d+,[0-9.E]+"));
  }

  private static TrainingSettings tuned(int epochs, int batch, Path store) {
    TrainingSettings s = Runs.settings(epochs);
    return new TrainingSettings(
            s.workload(),
            epochs,
            batch,
            s.rate(),
            s.optimizer(),
            s.seed(),
            s.sync(),
            s.read(),
            s.checkpoint())
        .with(new GradientExchange.Tuned(Optional.of(store)));
  }

  /// Returns the reports of an autotuner to the observers of two ranks.
  private static List<String> tunedBy(TrainingSettings settings) {
    List<String> heard = new CopyOnWriteArrayList<>();
    Runs.onAll(
        2,
        FIXED,
        job -> {
          try {
            return new Trainer(settings, Runs.DIGITS, job, new TuningListener(heard)).run();
          } catch (CancellationException stopped) {
            return stopped;
          }
        });
    return heard;
  }

  /// Records the report of an autotuner and then ends training.
  private record TuningListener(List<String> heard) implements TrainingObserver {
    @Override
    public void onTuned(String what) {
      heard.add(what);
      throw new CancellationException(what);
    }

    @Override
    public void onStart(Start start) {}

    @Override
    public void onStep(TrainedStep step) {}

    @Override
    public void onEpoch(TrainedEpoch epoch) {}

    @Override
    public void onShrink(Shrink shrink, String why) {}

    @Override
    public void onUnsaved(String why) {}
  }

  @ParameterizedTest
  @CsvSource({"fp16", "int8"})
  void fusionKeepsTheBitsOfWeightsWithCompressedGradients(String how) {
    WeftConfig config =
        WeftConfig.builder().transport("inproc").set(DataParallelConfig.FUSION, "on").build();
    TrainingSettings settings = Runs.settings(2).with(compressed(how));
    List<String> digests =
        Runs.onAll(
            2,
            config,
            job ->
                new Trainer(settings, Runs.DIGITS, job, TrainingObserver.SILENT)
                    .run()
                    .digests()
                    .getFirst());
    assertThat(digests).containsOnly(trained(2, compressed(how)).digests().getFirst());
  }

  @Test
  void aGradientThatIsNotANumberEndsACompressedTrainingWithItsName() {
    TrainingSettings s = Runs.settings(2);
    var wild =
        new TrainingSettings(
                s.workload(), 2, 50, 1e30f, s.optimizer(), 1, s.sync(), s.read(), s.checkpoint())
            .with(compressed("int8"));
    List<String> messages =
        Runs.onAll(
            2,
            job -> {
              try {
                return new Trainer(wild, Runs.DIGITS, job, TrainingObserver.SILENT)
                    .run()
                    .toString();
              } catch (RuntimeException e) {
                return String.valueOf(e.getMessage());
              }
            });
    assertThat(messages)
        .allSatisfy(message -> assertThat(message).contains("NaN").contains("weft/gradient/"));
  }
}
