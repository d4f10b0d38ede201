// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.job.JvmCommand;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks two ranks in separate processes. One of them closes arenas under its operations, passes
/// confined ones and waits in callbacks. Each misuse raises an error with a message, and both
/// processes complete successfully.
@Timeout(120)
class StrayRankTest {

  private static final long LIMIT_SECONDS = 60;

  @TempDir private Path directory;

  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void end() {
    processes.forEach(Process::destroyForcibly);
  }

  private Path start(int rank, int port, String transport) throws IOException {
    Path output = directory.resolve("rank-" + rank);
    var builder =
        new ProcessBuilder(JvmCommand.of(StrayRank.class, directory.toString()))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    var environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("WEFT_"));
    environment.put("WEFT_RANK", Integer.toString(rank));
    environment.put("WEFT_SIZE", "2");
    environment.put("WEFT_STORE", "127.0.0.1:" + port);
    environment.put("WEFT_SECRET", "a secret of these ranks");
    environment.put("WEFT_TRANSPORT", transport);
    processes.add(builder.start());
    return output;
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void eachMisuseRaisesAnErrorAndTheJobStillWorks(String transport) throws Exception {
    int port;
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    Path stray = start(0, port, transport);
    Path other = start(1, port, transport);
    for (Process process : processes) {
      boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      assertThat(ended).as(Files.readString(stray) + Files.readString(other)).isTrue();
      assertThat(process.exitValue())
          .as(Files.readString(stray) + Files.readString(other))
          .isZero();
    }
    for (Path output : List.of(stray, other)) {
      assertThat(output)
          .content()
          .contains("after-closed-3: sum 3\n", "after-closed-1000: sum 3\n")
          .contains("confined: operation 'confined': ", "confined to one thread")
          .contains("after-confined: sum 3\n", "forever: sum 3\n", "last: sum 3\n", "end: well\n")
          .doesNotContain("not refused", "Exception", "has died");
    }
    assertThat(stray)
        .content()
        .containsPattern("closed: rank 0 .*'closed-3'.*arena was closed.*await")
        .containsPattern("closed: rank 0 .*'closed-1000'.*arena was closed.*await")
        .containsPattern(
            "callback: refused, await of rank 0 on .*'late' in a callback.*use whenDone");
    assertThat(other).content().containsPattern("closed: (done|rank 0 .*said by rank 0)");
  }
}
