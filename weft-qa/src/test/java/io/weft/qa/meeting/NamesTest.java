// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.meeting;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.job.JvmCommand;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks how processes, each with its own file of hosts, resolve the name of the store's host.
@Timeout(180)
class NamesTest {

  private final List<Process> processes = new ArrayList<>();

  @TempDir Path directory;

  private int port;

  @BeforeEach
  void choosePort() throws IOException {
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
  }

  @AfterEach
  void end() {
    processes.forEach(Process::destroyForcibly);
  }

  private void start(int rank, String host, String deadline, String... flags) throws IOException {
    var builder =
        new ProcessBuilder(JvmCommand.of(List.of(flags), SummingRank.class, "1" + "0".repeat(rank)))
            .redirectErrorStream(true);
    var environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("WEFT_"));
    environment.put("WEFT_RANK", Integer.toString(rank));
    environment.put("WEFT_SIZE", "2");
    environment.put("WEFT_STORE", host + ":" + port);
    environment.put("WEFT_SECRET", "a secret of these ranks");
    environment.put("WEFT_START_DEADLINE", deadline);
    processes.add(builder.start());
  }

  private String hosts(String name, String... addresses) throws IOException {
    Path file = directory.resolve(name);
    Files.writeString(file, String.join(" node\n", addresses) + " node\n");
    return "-Djdk.net.hosts.file=" + file;
  }

  private List<String> outputs() throws Exception {
    var outputs = new ArrayList<String>();
    for (Process process : processes) {
      outputs.add(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
      assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }
    return outputs;
  }

  @Test
  void everyAddressOfANameIsTried() throws Exception {
    start(0, "node", "90s", hosts("zero", "127.0.0.1"));
    start(1, "node", "90s", hosts("one", "127.0.0.9", "127.0.0.1"));
    assertThat(outputs()).allSatisfy(output -> assertThat(output).contains("sum 11\n"));
  }

  @Test
  void twoNamesOfTheLoopbackAddressMeetInOneJob() throws Exception {
    start(0, "localhost", "90s");
    start(1, "127.0.0.1", "90s");
    assertThat(outputs()).allSatisfy(output -> assertThat(output).contains("sum 11\n"));
  }

  @Test
  void proxySettingsDoNotApplyToTheStore() throws Exception {
    start(0, "localhost", "90s", "-DsocksProxyHost=127.0.0.1", "-DsocksProxyPort=1");
    start(1, "localhost", "90s", "-DsocksProxyHost=127.0.0.1", "-DsocksProxyPort=1");
    assertThat(outputs()).allSatisfy(output -> assertThat(output).contains("sum 11\n"));
  }

  @Test
  void aHostNameThatIsLoopbackIsReportedWithItsRemedy() throws Exception {
    start(0, "node", "9s", hosts("zero", "127.0.1.1"));
    start(1, "node", "9s", hosts("one", "127.0.0.9"));
    List<String> outputs = outputs();
    assertThat(outputs.get(0))
        .contains("rank 1 of 2 did not join")
        .contains("loopback address 127.0.1.1")
        .contains("set WEFT_STORE to another address");
    assertThat(outputs.get(1))
        .contains("127.0.0.9:" + port + ": Connection refused")
        .contains("loopback")
        .contains("WEFT_STORE");
  }
}
