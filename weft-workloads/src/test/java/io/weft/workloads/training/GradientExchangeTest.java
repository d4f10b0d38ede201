// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.dataparallel.DataParallelConfig;
import io.weft.dataparallel.compress.Compression;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(180)
class GradientExchangeTest {

  private static TrainingOutcome trained(int ranks, GradientExchange exchange) {
    return Runs.together(ranks, Runs.settings(2).with(exchange)).getFirst();
  }

  private static GradientExchange compressed(String how) {
    return new GradientExchange.Averaged(Compression.parse(how));
  }

  @ParameterizedTest
  @CsvSource({"fp16, 0.51", "bf16, 0.51", "int8, 0.3", "int4, 0.2", "topk:0.1, 0.3"})
  void compressedGradientsTrainAlikeInFewerBytes(String how, double part) {
    TrainingOutcome plain = trained(2, GradientExchange.PLAIN);
    TrainingOutcome compressed = trained(2, compressed(how));
    assertThat(compressed.digests()).hasSize(2).containsOnly(compressed.digests().getFirst());
    assertThat(compressed.digests().getFirst()).isNotEqualTo(plain.digests().getFirst());
    assertThat(compressed.losses().getLast()).isLessThan(0.7 * compressed.losses().getFirst());
    assertThat(compressed.bytesPerStep().orElseThrow())
        .isPositive()
        .isLessThan(part * plain.bytesPerStep().orElseThrow());
  }

  @Test
  void aStepSendsEachGradientOnceToEachOfTwoRanks() {
    TrainingOutcome plain = trained(2, GradientExchange.PLAIN);
    long parameters = 784 * 200 + 200 + 200 * 100 + 100 + 100 * 10 + 10;
    assertThat(plain.bytesPerStep().orElseThrow())
        .isBetween(1.95 * 4 * parameters, 2.1 * 4 * parameters);
    assertThat(Runs.alone(Runs.settings(1)).bytesPerStep()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"inproc", "tcp"})
  void fusionLeavesTheBitsOfWeights(String transport) {
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

  @Test
  void anAutotunerLeavesTheBitsOfWeightsAndLogsItsSamples() {
    TrainingSettings plain = Runs.settings(100);
    List<List<String>> logs =
        Runs.onAll(
            2,
            job -> {
              var trainer =
                  new Trainer(
                      plain.with(new GradientExchange.Tuned()),
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
  void aGradientThatIsNoNumberEndsACompressedTrainingWithItsName() {
    TrainingSettings s = Runs.settings(2);
    var wild =
        new TrainingSettings(
                s.workload(), 2, 50, 1000f, s.optimizer(), 1, s.sync(), s.read(), s.checkpoint())
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
