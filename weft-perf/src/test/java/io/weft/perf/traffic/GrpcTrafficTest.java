// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.perf.grpc.PeerProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks the program as `weft perf wide-deep-traffic` starts it, with a client and two servers.
@Timeout(150)
final class GrpcTrafficTest {

  private PeerProgram program;

  @BeforeEach
  void of(@TempDir Path directory) {
    program = new PeerProgram(GrpcTraffic.class, directory);
  }

  @Test
  void everyTensorIsComparedAndStepsAreCounted() throws IOException, InterruptedException {
    assertThat(program.run("2", "5", "8", "500", "10", "2000", "1", "3"))
        .as(program.errors())
        .isZero();
    List<String> lines = program.lines();
    assertThat(lines).hasSize(4);
    assertThat(lines.get(0)).matches("peer grpc-java [0-9.]+ (epoll|nio)");
    assertThat(lines.get(1)).matches("case 1 checked [1-9][0-9]* 2000000000 [0-9]+ [0-9]+ 5[.]000");
    assertThat(lines.get(2)).matches("case 3 checked [1-9][0-9]* 2000000000 [0-9]+ [0-9]+ 5[.]000");
    assertThat(lines.get(3)).isEqualTo("done");
  }

  @Test
  void wrongArgumentsAreRefused() throws IOException, InterruptedException {
    assertThat(program.run("2", "5")).isEqualTo(2);
    assertThat(program.errors()).startsWith("usage: SERVERS TENSORS BYTES");
  }
}
