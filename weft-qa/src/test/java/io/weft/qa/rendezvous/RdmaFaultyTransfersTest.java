// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.rendezvous;

import io.weft.WeftConfig;
import io.weft.verbs.VerbsConfig;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.Arguments;

/// Checks the same over RDMA, where the transport looks for writes to freed memory.
@Tag("rdma")
class RdmaFaultyTransfersTest extends FaultyTransfersTest {

  static Stream<Arguments> ways() {
    return Stream.of("read", "write").map(protocol -> Arguments.of("verbs", protocol));
  }

  @Override
  int transfers(boolean isLong) {
    return isLong ? 500 : 60;
  }

  @Override
  WeftConfig.Builder config(String transport) {
    return super.config(transport)
        .set(VerbsConfig.CHECK_FREED, "true")
        .silenceLimit(Duration.ofMinutes(1));
  }
}
