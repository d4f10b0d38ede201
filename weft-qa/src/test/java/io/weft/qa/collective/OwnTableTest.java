// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.CommException;
import io.weft.telemetry.flight.FlightInstrument;
import io.weft.telemetry.flight.FlightLog;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.job.ExpectedFailures;
import io.weft.testkit.job.LocalJob;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Checks that the user's rules select the algorithms of a job.
class OwnTableTest {

  @TempDir private Path directory;

  private WeftConfig config(String rules) throws IOException {
    Path file = Files.writeString(directory.resolve("rules.txt"), rules);
    return WeftConfig.builder().transport("inproc").algorithms(file).build();
  }

  private static float sum(Weft weft, CollectiveOptions options) throws Exception {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(3))) {
      tensor.view().data().set(ValueLayout.JAVA_FLOAT, 8, weft.rank() + 1);
      var unused =
          weft.communicator()
              .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, options)
              .await();
      return tensor.view().data().get(ValueLayout.JAVA_FLOAT, 8);
    }
  }

  @Test
  void theRulesOfTheSettingSelectTheAlgorithm() throws IOException {
    WeftConfig config =
        config("allreduce | ranks=3 bytes<=12 | wire binomial-tree | for this test");
    try (LocalJob job = LocalJob.start(3, config)) {
      assertThat(job.run(weft -> sum(weft, named("g")))).containsExactly(6f, 6f, 6f);
      for (Weft rank : job.ranks()) {
        assertThat(FlightInstrument.log(rank).operations())
            .extracting(FlightLog.Flight::words)
            .containsExactly("allreduce FLOAT32[3] SUM by binomial-tree");
      }
    }
  }

  @Test
  void ranksWithDifferentChoicesFailAndBothChoicesAreNamed() throws IOException {
    try (LocalJob job = LocalJob.start(2, config("allreduce | | wire ring | for this test"))) {
      List<CommException> failures =
          job.run(
              weft -> {
                CollectiveOptions options =
                    weft.rank() == 0 ? named("g") : named("g").by("nested-direct");
                try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(3))) {
                  return ExpectedFailures.of(
                      weft.communicator()
                          .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, options));
                }
              });
      assertThat(failures)
          .allSatisfy(
              failure ->
                  assertThat(failure)
                      .isInstanceOf(CommException.Mismatch.class)
                      .hasMessageContaining("by ring")
                      .hasMessageContaining("by nested-direct"));
    }
  }
}
