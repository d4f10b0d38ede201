// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.meeting;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.job.JvmCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks processes that join a running job with the settings of their environment, in place of
/// killed ones.
@Timeout(180)
class LateProcessTest {

  private static final String SECRET = "a secret that all ranks have";

  private final List<Process> processes = new ArrayList<>();
  private final Map<Process, BufferedReader> outputs = new HashMap<>();

  @AfterEach
  void end() {
    processes.forEach(Process::destroyForcibly);
  }

  /// Returns the settings of a job whose ranks meet at an address of rank 0 or in a directory of
  /// this host.
  private static Map<String, String> job(String place) throws IOException {
    String name = "late-" + UUID.randomUUID();
    if (place.equals("directory")) {
      return Map.of("WEFT_JOB", name);
    }
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return Map.of(
          "WEFT_JOB", name,
          "WEFT_STORE", "127.0.0.1:" + free.getLocalPort(),
          "WEFT_SECRET", SECRET);
    }
  }

  private Process start(Map<String, String> job, int rank, Map<String, String> more)
      throws IOException {
    var builder = new ProcessBuilder(JvmCommand.of(AnsweringRank.class));
    builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().keySet().removeIf(name -> name.startsWith("WEFT_"));
    builder.environment().putAll(job);
    builder.environment().put("WEFT_RANK", Integer.toString(rank));
    builder.environment().put("WEFT_SIZE", "3");
    builder.environment().put("WEFT_LOCAL_RANK", Integer.toString(rank));
    builder.environment().put("WEFT_LOCAL_SIZE", "3");
    builder.environment().put("WEFT_START_DEADLINE", "60s");
    builder.environment().putAll(more);
    Process process = builder.start();
    processes.add(process);
    outputs.put(process, process.inputReader(StandardCharsets.UTF_8));
    return process;
  }

  private Process late(Map<String, String> job, int rank) throws IOException {
    return start(job, rank, Map.of("WEFT_JOIN", "true"));
  }

  private String line(Process process) {
    try {
      String line = outputs.get(process).readLine();
      while (line != null && !line.matches("(joined|reply|lost|failed|refused|no room).*")) {
        line = outputs.get(process).readLine();
      }
      return String.valueOf(line);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  private String ask(Process process, int peer) throws IOException {
    Writer input = process.outputWriter(StandardCharsets.UTF_8);
    input.write(peer + "\n");
    input.flush();
    return line(process);
  }

  @ParameterizedTest
  @ValueSource(strings = {"address", "directory"})
  void aKilledRankIsReplacedTwice(String place) throws Exception {
    Map<String, String> job = job(place);
    Process zero = start(job, 0, Map.of());
    Process one = start(job, 1, Map.of());
    Process two = start(job, 2, Map.of());
    assertThat(line(zero)).isEqualTo("joined as 0 of 3");
    assertThat(line(one)).isEqualTo("joined as 1 of 3");
    assertThat(line(two)).isEqualTo("joined as 2 of 3");
    one.destroyForcibly();
    Process three = late(job, 1);
    assertThat(line(three)).isEqualTo("joined as 3 of 3");
    assertThat(ask(three, 0)).isEqualTo("reply of 0");
    assertThat(ask(three, 1)).isEqualTo("lost 1");
    assertThat(ask(two, 3)).isEqualTo("reply of 3");
    assertThat(ask(zero, 1)).isEqualTo("lost 1");
    three.destroyForcibly();
    Process four = late(job, 1);
    assertThat(line(four)).isEqualTo("joined as 4 of 3");
    assertThat(ask(four, 3)).isEqualTo("lost 3");
    assertThat(ask(four, 2)).isEqualTo("reply of 2");
    assertThat(ask(zero, 4)).isEqualTo("reply of 4");
    for (Process process : List.of(zero, two, four)) {
      process.outputWriter(StandardCharsets.UTF_8).close();
    }
    for (Process process : List.of(zero, two, four)) {
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"address", "directory"})
  void noProcessJoinsAfterTheServerOfTheStoreDied(String place) throws Exception {
    Map<String, String> job = job(place);
    Process zero = start(job, 0, Map.of());
    Process one = start(job, 1, Map.of());
    Process two = start(job, 2, Map.of());
    for (Process process : List.of(zero, one, two)) {
      assertThat(line(process)).startsWith("joined");
    }
    zero.destroyForcibly();
    Process late = start(job, 0, Map.of("WEFT_JOIN", "true", "WEFT_START_DEADLINE", "3s"));
    assertThat(line(late)).startsWith("refused").contains("server of the job's store");
    assertThat(ask(one, 2)).isEqualTo("reply of 2");
  }
}
