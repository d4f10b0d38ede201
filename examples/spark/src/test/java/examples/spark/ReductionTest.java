// SPDX-License-Identifier: Apache-2.0
package examples.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ReductionTest {

  @Test
  @Timeout(240)
  void sumsOfBothAreChecked() throws Exception {
    assertThat(LocalRun.lastLine(Reduction::main, "3", "4", "64"))
        .matches("\\{\"executors\":2,\"checked\":true,\"ratios\":\\[\\d+\\.\\d,\\d+\\.\\d]}");
  }
}
