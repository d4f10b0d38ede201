// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks the program as `weft perf` starts it, in two processes.
@Timeout(150)
final class GrpcMessagesTest {

  private PeerProgram program;

  @BeforeEach
  void of(@TempDir Path directory) {
    program = new PeerProgram(GrpcMessages.class, directory);
  }

  @Tag("long")
  @Test
  void everyReplyIsComparedAndEveryIterationTimed() throws IOException, InterruptedException {
    assertThat(program.run("messages:8:64", "1", "16:3", "64:2")).as(program.errors()).isZero();
    List<String> lines = program.lines();
    assertThat(lines).hasSize(4);
    assertThat(lines.get(0)).matches("peer grpc-java [0-9.]+ (epoll|nio)");
    assertThat(lines.get(1)).matches("times 16 checked( [1-9][0-9]*){3}");
    assertThat(lines.get(2)).matches("times 64 checked( [1-9][0-9]*){2}");
    assertThat(lines.get(3)).isEqualTo("done");
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"messages:8", "allreduce:own", "messages:8:many"})
  void wrongArgumentsAreRefused(String what) throws IOException, InterruptedException {
    assertThat(program.run(what, "1", "64:2")).isEqualTo(2);
    assertThat(program.errors()).startsWith("usage: messages:OUTSTANDING:BATCH");
  }
}
