// SPDX-License-Identifier: Apache-2.0
package examples.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks the example with two ranks in this JVM. `examples/spark/run` starts executors.
class MnistPipelineTest {

  @Test
  @Timeout(240)
  void pipelineTrainsAndPredictsTheSameAfterALoad() throws Exception {
    System.setProperty("spark.master", "local[2]");
    System.setProperty("spark.driver.host", "127.0.0.1");
    PrintStream before = System.out;
    var said = new ByteArrayOutputStream();
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      MnistPipeline.main(new String[] {"2000", "400", "4"});
    } finally {
      System.setOut(before);
      System.clearProperty("spark.master");
      System.clearProperty("spark.driver.host");
    }
    assertThat(said.toString(StandardCharsets.UTF_8).lines().toList().getLast())
        .matches(
            "\\{\"executors\":1,\"accuracy\":0\\.[789]\\d{3},\"equalWeights\":true,"
                + "\"reloadedPredictionsEqual\":true}");
  }
}
