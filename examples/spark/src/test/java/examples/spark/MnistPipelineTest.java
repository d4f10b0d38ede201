// SPDX-License-Identifier: Apache-2.0
package examples.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class MnistPipelineTest {

  @Test
  @Timeout(240)
  void pipelineTrainsAndPredictsTheSameAfterALoad() throws Exception {
    assertThat(LocalRun.lastLine(MnistPipeline::main, "2000", "400", "4"))
        .matches(
            "\\{\"executors\":1,\"stepMillis\":\\d+\\.\\d\\d,"
                + "\"accuracy\":0\\.[789]\\d{3},\"equalWeights\":true,"
                + "\"reloadedPredictionsEqual\":true}");
  }
}
