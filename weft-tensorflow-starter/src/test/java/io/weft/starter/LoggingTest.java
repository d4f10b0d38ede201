// SPDX-License-Identifier: Apache-2.0
package io.weft.starter;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// Checks that a program with a starter has one log.
class LoggingTest {

  @Test
  void systemLoggersWriteToSlf4j() {
    for (String name : new String[] {"io.weft.shm.ShmTransport", "io.weft.transport.tcp"}) {
      assertThat(System.getLogger(name).getClass().getName())
          .startsWith("org.slf4j.jdk.platform.logging.");
    }
  }
}
