// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.testkit.job.JvmCommand;
import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import java.io.BufferedReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks the command in a separate process, with rehearsed training.
@Timeout(60)
class TrainTest {

  @TempDir Path directory;

  private record Ended(int code, String out, String err) {}

  private Process start(Map<String, String> environment, String... arguments) throws Exception {
    ProcessBuilder builder =
        CommandProcess.of(arguments).redirectError(directory.resolve("stderr").toFile());
    builder.environment().putAll(environment);
    return builder.start();
  }

  private Ended run(Map<String, String> environment, String... arguments) throws Exception {
    Process process = start(environment, arguments);
    try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
      String out = String.join("\n", reader.lines().toList());
      assertThat(process.waitFor(50, TimeUnit.SECONDS)).isTrue();
      return new Ended(process.exitValue(), out, err());
    }
  }

  private String err() throws Exception {
    return Files.readString(directory.resolve("stderr"));
  }

  /// Returns the processes of the two ranks by the ids that they print.
  private static Map<Integer, ProcessHandle> ranks(BufferedReader reader) throws Exception {
    return ranks(reader, 2);
  }

  private static Map<Integer, ProcessHandle> ranks(BufferedReader reader, int size)
      throws Exception {
    var ranks = new HashMap<Integer, ProcessHandle>();
    while (ranks.size() < size) {
      String line = reader.readLine();
      assertThat(line).isNotNull();
      if (line.contains("pid ")) {
        long pid = Long.parseLong(line.replaceFirst(".*pid ", ""));
        int rank = line.startsWith("[") ? Character.digit(line.charAt(1), 10) : 0;
        ranks.put(rank, ProcessHandle.of(pid).orElseThrow());
      }
    }
    return ranks;
  }

  private static void signal(String name, long pid) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
    assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
  }

  private static void assertEnds(ProcessHandle handle) {
    handle.onExit().orTimeout(20, TimeUnit.SECONDS).join();
    assertThat(handle.isAlive()).isFalse();
  }

  @Test
  void workloadGetsItsArgumentsAndRanksTheirEnvironment() throws Exception {
    Ended ended =
        run(
            Map.of(),
            "train",
            "rehearsal",
            "-np",
            "2",
            "--epochs",
            "3",
            "--deadline",
            "7s",
            "--transport",
            "tcp");
    assertThat(ended.err()).isEmpty();
    assertThat(ended.out().lines())
        .containsExactlyInAnyOrder(
            "0 [--epochs, 3, --transport, tcp] PASSIVE 7s null",
            "[1] 1 [--epochs, 3, --transport, tcp] PASSIVE 7s null");
    assertThat(ended.code()).isZero();
  }

  @Test
  void processThatIsAlreadyARankTrainsItself() throws Exception {
    Ended ended =
        run(
            Map.of("OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "1", "WEFT_RANK", ""),
            "train",
            "rehearsal",
            "--deadline",
            "7s");
    assertThat(ended.out()).isEqualTo(" [] null null 7s");
    assertThat(ended.code()).isZero();
  }

  @Test
  void numberOfRanksStartsASeparateJobUnderAnyLauncher() throws Exception {
    var ranks = new HashMap<String, String>();
    ranks.putAll(Map.of("RANK", "0", "WORLD_SIZE", "1", "MASTER_ADDR", "localhost"));
    ranks.putAll(Map.of("SLURM_PROCID", "3", "SLURM_STEP_ID", "0", "SLURM_NTASKS", "4"));
    ranks.putAll(Map.of("WEFT_RANK", "1", "WEFT_SIZE", "2", "WEFT_LAUNCHER", "outer"));
    ranks.putAll(Map.of("WEFT_STORE", "127.0.0.1:1", "WEFT_SECRET_FILE", "/nowhere"));
    Ended own = run(ranks, "train", "rehearsal", "-np", "2");
    assertThat(own.err()).isEmpty();
    assertThat(own.out().lines())
        .containsExactlyInAnyOrder("0 [] PASSIVE null null", "[1] 1 [] PASSIVE null null");
    Ended contradiction = run(ranks, "train", "rehearsal");
    assertThat(contradiction.code()).isEqualTo(2);
    assertThat(contradiction.err())
        .contains("WEFT_RANK and WEFT_SIZE (weft) say rank 1 of 2")
        .contains("SLURM_PROCID and SLURM_NTASKS (Slurm) say rank 3 of 4");
  }

  @Test
  void jobInsideARankHasItsOwnStoreAndRanks() throws Exception {
    String inner =
        JvmCommand.of(Main.class, "run", "-np", "2", "--", "env").stream()
            .map(word -> "'" + word + "'")
            .collect(Collectors.joining(" "));
    Ended ended =
        run(
            Map.of("RANK", "0", "WORLD_SIZE", "1", "MINE", "kept"),
            "run",
            "-np",
            "1",
            "--store",
            "127.0.0.1:" + freePort(),
            "--",
            "sh",
            "-c",
            "echo outer $WEFT_STORE; " + inner);
    assertThat(ended.code()).as(ended.err()).isZero();
    List<String> stores = ended.out().lines().filter(line -> line.contains("WEFT_STORE=")).toList();
    String outer =
        ended.out().lines().filter(line -> line.contains("outer ")).findFirst().orElseThrow();
    assertThat(stores).hasSize(2);
    assertThat(stores.getFirst()).doesNotContain(outer.replaceFirst(".*outer ", ""));
    assertThat(ended.out())
        .contains("[1] WEFT_RANK=1")
        .contains("MINE=kept")
        .doesNotContain(" RANK=")
        .doesNotContain("WORLD_SIZE=");
  }

  private static int freePort() throws Exception {
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  @Test
  void trainWithoutAWorkloadListsTheWorkloads() throws Exception {
    assertThat(run(Map.of(), "train")).isEqualTo(new Ended(0, "rehearsal", ""));
  }

  @Test
  void wrongOptionIsReportedOnceBeforeAnyRankStarts() throws Exception {
    assertThat(run(Map.of(), "train", "rehearsal", "-np", "2", "--wrong"))
        .isEqualTo(new Ended(2, "", "option --wrong is wrong\n"));
  }

  @Test
  void crashIsReportedWithoutAStackTrace() throws Exception {
    Ended ended = run(Map.of(), "train", "crash");
    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.err()).contains("rehearsed crash").doesNotContain("\tat ");
  }

  @Test
  void commandHasTheExitCodeOfTheFailedRank() throws Exception {
    Ended ended = run(Map.of(), "train", "lonely", "-np", "2");
    assertThat(ended.code()).isEqualTo(3);
    assertThat(ended.err())
        .contains("[1] rank 1 gives up")
        .contains("rank 1 on localhost failed: exit code 3");
  }

  @Test
  void interruptEndsAllProcessesAndSetsTheExitCode() throws Exception {
    Process process = start(Map.of(), "train", "endless", "-np", "2");
    try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
      Map<Integer, ProcessHandle> ranks = ranks(reader);
      List<ProcessHandle> offspring = process.descendants().toList();
      signal("INT", process.pid());
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(130);
      assertThat(err()).contains("interrupted").doesNotContain("failed");
      assertThat(ranks.values()).noneMatch(ProcessHandle::isAlive);
      assertThat(offspring).hasSizeGreaterThanOrEqualTo(4).noneMatch(ProcessHandle::isAlive);
    }
  }

  @Test
  void killedRankIsNamedAndTheOtherRankEnds() throws Exception {
    Process process = start(Map.of(), "train", "endless", "-np", "2");
    try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
      Map<Integer, ProcessHandle> ranks = ranks(reader);
      assertThat(ranks.get(1).destroyForcibly()).isTrue();
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(1);
      assertThat(err()).contains("rank 1 on localhost failed: killed by SIGKILL (exit code 137)");
      assertEnds(ranks.get(0));
    }
  }

  private String errOfExchangeWithout(String signal) throws Exception {
    Process process =
        start(
            Map.of(),
            "train",
            "exchange",
            "-np",
            "3",
            "--heartbeat",
            "200ms",
            "--silence-limit",
            "4s");
    try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
      Map<Integer, ProcessHandle> ranks = ranks(reader, 3);
      signal(signal, ranks.get(1).pid());
      assertThat(process.waitFor(50, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(1);
      assertThat(ranks.values()).noneMatch(ProcessHandle::isAlive);
      return err();
    }
  }

  /// Returns the survivors' messages about the loss of rank 1.
  private static List<String> lossOfRankOne(String err) {
    return err.lines()
        .filter(
            line -> line.matches("(\\[2] )?io.weft.comm.CommException\\$PeerLost: rank 1 on .*"))
        .toList();
  }

  @Test
  void allRanksNameTheStoppedRankAndTheLauncherEndsIt() throws Exception {
    assumeTrue(
        Files.isReadable(Path.of("/proc/self/stat")), "needs /proc to see that it is stopped");
    String err = errOfExchangeWithout("STOP");
    assertThat(lossOfRankOne(err))
        .as(err)
        .hasSize(2)
        .allSatisfy(
            line ->
                assertThat(line)
                    .contains("is lost: no sign of life for ")
                    .contains("(limit 4.0 s, --silence-limit)")
                    .contains("is stopped by a signal (state T)")
                    .contains("barrier 'meet'"));
    assertThat(err)
        .contains("the job failed: rank 1 on localhost: it did not end by itself: it was stopped");
  }

  @Test
  void allRanksNameTheKilledRank() throws Exception {
    String err = errOfExchangeWithout("KILL");
    assertThat(lossOfRankOne(err))
        .as(err)
        .hasSize(2)
        .allSatisfy(
            line ->
                assertThat(line)
                    .contains("is lost: its connection broke, last sign of life ")
                    .contains("barrier 'meet'"));
    assertThat(err).contains("the job failed: rank 1 on localhost: killed by SIGKILL");
  }

  @Test
  @Needs(OptionalProgram.SETPRIV) // otherwise only Weft's own ranks end
  void ranksEndWithKilledLauncher() throws Exception {
    Process process = start(Map.of(), "train", "endless", "-np", "2");
    try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
      Map<Integer, ProcessHandle> ranks = ranks(reader);
      List<ProcessHandle> offspring = process.descendants().toList();
      process.destroyForcibly();
      ranks.values().forEach(TrainTest::assertEnds);
      offspring.forEach(ProcessHandle::destroyForcibly);
    }
  }
}
