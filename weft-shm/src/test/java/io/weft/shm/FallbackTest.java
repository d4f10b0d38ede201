// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.testkit.transport.LogLines;
import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Checks that processes on one machine that cannot share memory use TCP and log the reason.
class FallbackTest {

  private static final long START_SECONDS = 60;
  private static final String OWN = System.getProperty("java.class.path");

  @Test
  void aProcessInAnotherProcessNamespaceTalksOverTcp() throws IOException, InterruptedException {
    assumeTrue(runs(inNamespace("--pid"), "true"), "needs the right to make a namespace");
    talksOverTcp(inNamespace("--pid"), OWN, "another process namespace");
  }

  @Test
  void aProcessOnAHostOfAnotherNameTalksOverTcp() throws IOException, InterruptedException {
    List<String> renamed = new ArrayList<>(inNamespace("--uts"));
    renamed.addAll(List.of("sh", "-c", "hostname weft-test && exec \"$@\"", "sh"));
    assumeTrue(runs(renamed, "true"), "needs the right to make a namespace");
    talksOverTcp(renamed, OWN, "under another host name");
  }

  @Test
  void aProcessOfAnotherUserTalksOverTcp(@TempDir Path directory)
      throws IOException, InterruptedException, URISyntaxException {
    List<String> asNobody =
        List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env");
    assumeTrue(runs(asNobody, "true"), "needs the right to start processes of another user");
    String classPath = PublicClasses.below(directory);
    String java = System.getProperty("java.home") + "/bin/java";
    assumeTrue(runs(asNobody, java, "-version"), "another user cannot start " + java);
    assumeTrue(runs(asNobody, "ls", directory.toString()), "another user cannot see the classes");
    talksOverTcp(asNobody, classPath, "must run as one user");
  }

  private static void talksOverTcp(List<String> before, String classPath, String why)
      throws IOException, InterruptedException {
    LogLines log = LogLines.of("io.weft.shm");
    try {
      Process process = echoed(before, classPath);
      assertThat(log.has("rank 0 talks to rank 1 over TCP", why)).isTrue();
      assertThat(process.waitFor(START_SECONDS, TimeUnit.SECONDS)).isTrue();
    } finally {
      log.close();
    }
  }

  /// Connects a process that is started with the prefix `before`, has it echo a message, and closes
  /// the connection.
  private static Process echoed(List<String> before, String classPath) throws IOException {
    try (Peer own = Peer.here(0)) {
      Process process = EchoProcess.start(before, classPath, own.transport.address());
      Peer.until("it connects", () -> !own.connected.isEmpty() || !process.isAlive(), own);
      Endpoint endpoint = own.to(1);
      MemoryRegion region = own.region(1000);
      assertThat(endpoint.map(region.export())).isNull();
      Peer.post(() -> endpoint.trySend(Peer.bytes(1, 2, 3)), own);
      Peer.until("the echo", () -> own.messages.size() == 1, own);
      assertThat(own.messages.getFirst()).containsExactly(1, 2, 3);
      return process;
    }
  }

  @Test
  void sharedMemoryIsUnavailableUnderAFileSizeLimit() throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(List.of("sh", "-c", "ulimit -f 64 && exec \"$@\"", "sh"));
    command.addAll(EchoProcess.java(OWN, ProbeProcess.class));
    // Without this flag the JVM itself writes a larger file.
    command.add(command.size() - 1, "-XX:-UsePerfData");
    assertThat(output(command)).contains("unavailable", "raise 'ulimit -f'", "--transport tcp");
  }

  @Test
  void sharedMemoryIsUnavailableWithoutProc() throws IOException, InterruptedException {
    List<String> hidden = new ArrayList<>(inNamespace("--mount"));
    hidden.addAll(List.of("sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"));
    // The loader finds Java's own libraries through /proc.
    hidden.addAll(List.of("env", "LD_LIBRARY_PATH=" + System.getProperty("java.home") + "/lib"));
    assumeTrue(runs(hidden, "true"), "needs the right to mount in a namespace of its own");
    hidden.addAll(EchoProcess.java(OWN, ProbeProcess.class));
    assertThat(output(hidden)).contains("unavailable", "mount /proc", "--transport tcp");
  }

  @Test
  void sharedMemoryIsUnavailableWithoutNativeAccess() throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(EchoProcess.java(OWN, ProbeProcess.class));
    command.removeIf(flag -> flag.startsWith("--enable-native-access"));
    command.add(1, "--illegal-native-access=deny");
    assertThat(output(command)).contains("unavailable", "--enable-native-access=io.weft.shm");
  }

  private static List<String> inNamespace(String kind) {
    List<String> command = new ArrayList<>(List.of("unshare"));
    if (!System.getProperty("user.name").equals("root")) {
      command.addAll(List.of("--user", "--map-root-user"));
    }
    command.add(kind);
    if (kind.equals("--pid")) {
      command.addAll(List.of("--fork", "--kill-child", "--mount-proc"));
    }
    return command;
  }

  private static boolean runs(List<String> before, String... command) throws InterruptedException {
    List<String> all = new ArrayList<>(before);
    all.addAll(List.of(command));
    try {
      Process process =
          new ProcessBuilder(all)
              .redirectErrorStream(true)
              .redirectOutput(Redirect.DISCARD)
              .start();
      return process.waitFor(START_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException missing) {
      return false;
    }
  }

  private static String output(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(START_SECONDS, TimeUnit.SECONDS)).isTrue();
    return said;
  }
}
