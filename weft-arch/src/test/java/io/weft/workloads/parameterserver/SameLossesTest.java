// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.training.TrainingOutcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that synchronous steps have equal losses in one process, under TensorFlow and under Weft,
/// and bitwise equal losses over each of Weft's transports.
@Timeout(600)
class SameLossesTest {

  private static final Percentage CLOSE = Percentage.withPercentage(1e-3); // 1e-5 of the loss
  private static final Servers GRPC = new Servers(Servers.Via.GRPC, 2, 2, 0);
  private static final Servers WEFT = new Servers(Servers.Via.WEFT, 2, 2, 0);

  @TempDir Path directory;

  @Tag("long")
  @Test
  void localGrpcAndWeftHaveTheSameLosses() throws Exception {
    Map<SmallTraining, List<Double>> alone = new LinkedHashMap<>();
    Process grpc = GrpcTrainings.start(directory, GRPC);
    try {
      for (SmallTraining training : SmallTraining.ALL) {
        alone.put(training, assertWeftHasTheLossesOfOneRank(training));
      }
      boolean over = grpc.waitFor(5, TimeUnit.MINUTES);
      String printed = Files.readString(GrpcTrainings.printed(directory));
      assertThat(over).as("ended; printed " + printed).isTrue();
      assertThat(grpc.exitValue()).as(printed).isZero();
    } finally {
      grpc.destroyForcibly();
    }
    for (Map.Entry<SmallTraining, List<Double>> expected : alone.entrySet()) {
      SmallTraining training = expected.getKey();
      List<Double> losses = GrpcTrainings.losses(directory, training);
      assertClose("gRPC, " + training.name(), losses, expected.getValue());
    }
  }

  /// Returns the losses of one rank.
  private static List<Double> assertWeftHasTheLossesOfOneRank(SmallTraining training) {
    List<Double> alone = ServedRuns.alone(training.settings(), training.source()).losses();
    assertThat(alone.getFirst()).isNotEqualTo(alone.getLast());
    TrainingOutcome inproc = over("inproc", training);
    assertClose("Weft, " + training.name(), inproc.losses(), alone);
    TrainingOutcome tcp = over("tcp", training);
    assertThat(tcp.losses()).as(training.name()).isEqualTo(inproc.losses());
    assertThat(tcp.digests()).as(training.name()).isEqualTo(inproc.digests());
    return alone;
  }

  private static TrainingOutcome over(String transport, SmallTraining training) {
    return ServedRuns.served(training.settings(), WEFT, training.source(), transport).outcome();
  }

  private static void assertClose(String who, List<Double> losses, List<Double> expected) {
    assertThat(losses).as(who).hasSameSizeAs(expected);
    for (int step = 0; step < expected.size(); step++) {
      assertThat(losses.get(step)).as(who + ", step " + step).isCloseTo(expected.get(step), CLOSE);
    }
  }
}
