// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks jobs whose ranks are started by ssh, through the test's own server on loopback.
@Timeout(60)
@Needs(OptionalProgram.SSHD)
class SshJobTest {

  private static final Path SERVER = Path.of("/usr/sbin/sshd");

  @TempDir static Path directory;

  private static Process server;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @BeforeAll
  static void startServer() throws Exception {
    int port;
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    key("host_key");
    key("user_key");
    Path authorized = directory.resolve("authorized_keys");
    Files.copy(directory.resolve("user_key.pub"), authorized);
    Path config = directory.resolve("sshd_config");
    Files.writeString(
        config,
        """
        Port %d
        ListenAddress 127.0.0.1
        HostKey %s
        AuthorizedKeysFile %s
        PidFile none
        StrictModes no
        UsePAM no
        PasswordAuthentication no
        PermitRootLogin yes
        """
            .formatted(port, directory.resolve("host_key"), authorized));
    Files.writeString(
        directory.resolve("ssh_config"),
        """
        Host weft-far weft-farther
          HostName 127.0.0.1
          Port %d
          IdentityFile %s
          IdentitiesOnly yes
          StrictHostKeyChecking no
          UserKnownHostsFile /dev/null
          LogLevel ERROR
        """
            .formatted(port, directory.resolve("user_key")));
    server =
        new ProcessBuilder(SERVER.toString(), "-D", "-e", "-f", config.toString())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("sshd.log").toFile())
            .start();
    assertThat(answers(port)).as(() -> "sshd answers; it says " + log()).isTrue();
  }

  @AfterAll
  static void stopServer() throws Exception {
    if (server != null) {
      server.destroy();
      assertThat(server.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  private static void key(String name) throws Exception {
    Process keygen =
        new ProcessBuilder(
                "ssh-keygen",
                "-q",
                "-t",
                "ed25519",
                "-N",
                "",
                "-f",
                directory.resolve(name).toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(keygen.waitFor(20, TimeUnit.SECONDS)).isTrue();
  }

  private static boolean answers(int port) {
    long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (System.nanoTime() < end && server.isAlive()) {
      try (var probe = new Socket(InetAddress.getLoopbackAddress(), port)) {
        probe.setSoTimeout(5_000);
        return probe.getInputStream().read() == 'S';
      } catch (IOException notYet) {
        Thread.onSpinWait();
      }
    }
    return false;
  }

  private static String log() {
    try {
      return Files.readString(directory.resolve("sshd.log"));
    } catch (IOException none) {
      return none.toString();
    }
  }

  private JobPlan plan(String hosts, String script) {
    return plan(hosts, List.of("sh", "-c", script));
  }

  private JobPlan plan(String hosts, List<String> command) {
    List<HostSlots> list = HostSlots.parseList(hosts);
    return new JobPlan(
            RankPlacement.of(list.stream().mapToInt(HostSlots::slots).sum(), list),
            command,
            Map.of("FROM_PLAN", "it's \"quoted\" $HOME", "DIR", directory.toString()),
            WeftConfig.load(Map.of(), new Properties()),
            JobPlan.Output.PREFIXED)
        .reachedBy(List.of("ssh", "-F", directory.resolve("ssh_config").toString()));
  }

  private int run(JobPlan plan) throws Exception {
    try (LaunchedJob job = start(plan)) {
      return job.await();
    }
  }

  private LaunchedJob start(JobPlan plan) throws Exception {
    return LaunchedJob.start(
        plan,
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  @Test
  void ranksOnOtherHostsGetTheirPlaceDirectoryAndSecret() throws Exception {
    int code =
        run(
            plan(
                "localhost:1,weft-far:2,weft-farther:1",
                "echo $WEFT_RANK/$WEFT_SIZE $WEFT_LOCAL_RANK/$WEFT_LOCAL_SIZE"
                    + " $WEFT_CROSS_RANK/$WEFT_CROSS_SIZE ${WEFT_STORE%:*} $FROM_PLAN"
                    + " ${#WEFT_SECRET}; pwd"));
    assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
    assertThat(code).isZero();
    String plan = "127.0.0.1 it's \"quoted\" $HOME";
    String here = Path.of("").toAbsolutePath().toString();
    assertThat(out.toString(StandardCharsets.UTF_8).lines())
        .containsExactlyInAnyOrder(
            "[0] 0/4 0/1 0/3 " + plan + " 0",
            "[1] 1/4 0/2 1/3 " + plan + " 44",
            "[2] 2/4 1/2 0/1 " + plan + " 44",
            "[3] 3/4 0/1 2/3 " + plan + " 44",
            "[0] " + here,
            "[1] " + here,
            "[2] " + here,
            "[3] " + here);
  }

  @Test
  void binarySecretIsTheSameOnOtherHosts() throws Exception {
    Path file = directory.resolve("raw.secret");
    byte[] bytes = "0123456789abcdef\u00ff\u00fe'".getBytes(StandardCharsets.ISO_8859_1);
    Files.write(file, bytes);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    JobPlan plan = plan("weft-far:1", "echo $WEFT_SECRET_HEX ${WEFT_SECRET:-none}");
    assertThat(
            run(
                new JobPlan(
                        plan.ranks(),
                        plan.command(),
                        plan.environment(),
                        WeftConfig.load(
                            Map.of("WEFT_SECRET_FILE", file.toString()), new Properties()),
                        plan.output())
                    .reachedBy(plan.ssh())))
        .isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .isEqualTo("[0] " + HexFormat.of().formatHex(bytes) + " none\n");
  }

  @Test
  void failureOnAnotherHostIsNamedAndItsProcessesEnd() throws Exception {
    int code =
        run(
            plan(
                "weft-far:2",
                "if [ $WEFT_RANK = 1 ]; then exit 6; fi; echo $$ > $DIR/far.pid; sleep 1000"));
    assertThat(code).isEqualTo(6);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("rank 1 on weft-far: exit code 6");
    long pid = Long.parseLong(Files.readString(directory.resolve("far.pid")).strip());
    ProcessHandle.of(pid).ifPresent(left -> left.onExit().orTimeout(20, TimeUnit.SECONDS).join());
  }

  @Test
  void flightLogOfRankOnAnotherHostReachesTheReport() throws Exception {
    List<String> rank = FlightRank.command(directory, "silent", "1");
    assertThat(run(plan("localhost:1,weft-far:1", rank))).isEqualTo(1);
    assertThat(err.toString(StandardCharsets.UTF_8).lines())
        .anyMatch(
            line ->
                line.matches(
                    "weft:   rank 1 on \\S+ never submitted allreduce 'dense/kernel' \\(use 1\\);"
                        + " its last was allreduce 'dense/bias' .*"));
  }

  @Test
  void secretAndEnvironmentAreOnNoCommandLine() throws Exception {
    int code = run(plan("weft-far:1", "echo SECRET=$WEFT_SECRET; ps -ef"));
    String shown = out.toString(StandardCharsets.UTF_8);
    assertThat(code).isZero();
    String secret = shown.lines().findFirst().orElseThrow().replaceFirst(".*SECRET=", "");
    assertThat(secret).hasSize(44);
    assertThat(shown.lines().skip(1))
        .noneMatch(line -> line.contains(secret) || line.contains("FROM_PLAN="));
  }

  @Test
  void hostThatRefusesTheConnectionIsNamed() throws Exception {
    JobPlan plan = plan("weft-far:1", "true");
    Path config = directory.resolve("ssh_config_closed");
    Files.writeString(config, "Host weft-far\n  HostName 127.0.0.1\n  Port 1\n");
    var closed =
        new JobPlan(plan.ranks(), plan.command(), plan.environment(), plan.config(), plan.output())
            .reachedBy(List.of("ssh", "-F", config.toString()));
    assertThat(run(closed)).isEqualTo(255);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("rank 0 on weft-far failed: ssh failed (exit code 255)")
        .contains("Connection refused");
  }
}
