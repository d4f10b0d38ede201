// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.meeting;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.job.JvmCommand;
import io.weft.testkit.job.OwnLoopback;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks jobs of one user on one host whose processes start in turn: no job's sum includes a
/// number of another job.
@Timeout(180)
class JobsApartTest {

  private static final String SECRET = "a secret that both jobs have";

  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void end() {
    processes.forEach(Process::destroyForcibly);
  }

  private void start(int number, Map<String, String> variables) throws IOException {
    var builder =
        new ProcessBuilder(JvmCommand.of(SummingRank.class, Integer.toString(number)))
            .redirectErrorStream(true);
    builder.environment().keySet().removeIf(name -> name.startsWith("WEFT_"));
    builder.environment().put("WEFT_START_DEADLINE", "90s");
    builder.environment().putAll(variables);
    processes.add(builder.start());
  }

  private List<String> outputs() throws Exception {
    var outputs = new ArrayList<String>();
    for (Process process : processes) {
      outputs.add(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
      assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }
    return outputs;
  }

  /// Starts ranks 0 and 1 of the first job with the numbers 1 and 10, and those of the second job
  /// with 100 and 1,000, in an order in which rank 0 and rank 1 of different jobs meet first.
  private void startInTurn(Map<String, String> first, Map<String, String> second, String rank)
      throws IOException {
    start(10, with(first, rank, "1"));
    start(100, with(second, rank, "0"));
    start(1, with(first, rank, "0"));
    start(1_000, with(second, rank, "1"));
  }

  private static Map<String, String> with(Map<String, String> base, String name, String value) {
    var changed = new HashMap<>(base);
    changed.put(name, value);
    return changed;
  }

  private void assertOwnSums() throws Exception {
    List<String> outputs = outputs();
    assertThat(outputs.get(0)).contains("sum 11\n");
    assertThat(outputs.get(1)).contains("sum 1100\n");
    assertThat(outputs.get(2)).contains("sum 11\n");
    assertThat(outputs.get(3)).contains("sum 1100\n");
  }

  /// Returns the variables of a job whose master has a port that no other process takes.
  private static Map<String, String> torchrun() {
    String[] master = OwnLoopback.free(3).split(":");
    return Map.of(
        "WORLD_SIZE",
        "2",
        "LOCAL_WORLD_SIZE",
        "2",
        "MASTER_ADDR",
        master[0],
        "MASTER_PORT",
        master[1]);
  }

  @Tag("long")
  @Test
  void jobsOfTorchrunWithTheDefaultRunIdSumTheirOwnNumbers() throws Exception {
    startInTurn(
        with(torchrun(), "TORCHELASTIC_RUN_ID", "none"),
        with(torchrun(), "TORCHELASTIC_RUN_ID", "none"),
        "RANK");
    assertOwnSums();
  }

  @Tag("long")
  @Test
  void jobsOfOneShellWithoutARunIdSumTheirOwnNumbers() throws Exception {
    startInTurn(torchrun(), torchrun(), "RANK");
    assertOwnSums();
  }

  @Test
  void jobsWithOneSecretOnOnePortSumTheirOwnNumbers() throws Exception {
    int port;
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    Map<String, String> job =
        Map.of(
            "SLURM_STEP_ID", "0",
            "SLURM_STEP_NUM_TASKS", "2",
            "SLURM_STEP_NODELIST", "localhost,elsewhere",
            "WEFT_STORE", "localhost:" + port,
            "WEFT_SECRET", SECRET);
    startInTurn(
        with(job, "SLURM_JOB_ID", "4711"), with(job, "SLURM_JOB_ID", "9123"), "SLURM_PROCID");
    assertOwnSums();
  }

  @Test
  void theJobThatHoldsThePortIsNamedToTheOtherJob() throws Exception {
    int port;
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    Map<String, String> job =
        Map.of(
            "WEFT_SIZE",
            "2",
            "WEFT_STORE",
            "127.0.0.1:" + port,
            "WEFT_SECRET",
            SECRET,
            "WEFT_START_DEADLINE",
            "8s");
    start(1, with(with(job, "WEFT_JOB", "one"), "WEFT_RANK", "0"));
    // Rank 1 of another job, whose rank 0 never starts.
    start(1_000, with(with(job, "WEFT_JOB", "other"), "WEFT_RANK", "1"));
    List<String> outputs = outputs();
    assertThat(outputs.get(0)).contains("rank 1 of 2 did not join within 8.0 s");
    assertThat(outputs.get(1))
        .contains("is of job 'one at port " + port)
        .contains("is of job 'other at port " + port);
  }
}
