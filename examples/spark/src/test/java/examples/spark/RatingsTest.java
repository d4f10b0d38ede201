// SPDX-License-Identifier: Apache-2.0
package examples.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class RatingsTest {

  @Test
  @Timeout(240)
  void serversLearnTheRatingsOfADataFrame() throws Exception {
    assertThat(LocalRun.lastLine(Ratings::main, "30000", "10"))
        .matches(
            "\\{\"executors\":1,\"rows\":800,\"errorOfMean\":0\\.[67]\\d{3},\"error\":0\\.[012]\\d{3}}");
  }
}
