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
    assertThat(lines).hasSize(12);
    assertThat(lines.get(0)).matches("peer grpc-java [0-9.]+ (epoll|nio)");
    for (int at : List.of(1, 6)) {
      assertThat(lines.get(at)).isEqualTo(at == 1 ? "times 1 checked" : "times 3 checked");
      assertThat(lines.get(at + 1)).matches("figure stepsPerSecond [1-9][0-9.]*");
      assertThat(lines.get(at + 2)).matches("figure p50Millis [0-9.]+");
      assertThat(lines.get(at + 3)).matches("figure p99Millis [0-9.]+");
      assertThat(lines.get(at + 4)).isEqualTo("figure requestsPerStep 5.0");
    }
    assertThat(lines.get(11)).isEqualTo("done");
  }

  @Test
  void wrongArgumentsAreRefused() throws IOException, InterruptedException {
    assertThat(program.run("2", "5")).isEqualTo(2);
    assertThat(program.errors()).startsWith("usage: SERVERS TENSORS BYTES");
  }
}
