// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.ports;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weft.testkit.job.JvmCommand;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// A process of this test in one of its networks.
///
/// @param printed its standard output
/// @param said its standard error, for messages
record Program(Process process, Path printed, Path said) {

  private static final long LIMIT_NANOS = TimeUnit.MINUTES.toNanos(2);
  private static final String LISTENING = "0A";
  private static final int IPV4_BYTES = 4;

  /// @param network prefix of a command that runs in the network
  static Program start(
      List<String> network,
      Path directory,
      Map<String, String> environment,
      Class<?> main,
      String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(network);
    command.addAll(
        JvmCommand.of(
            List.of(
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Djava.io.tmpdir=" + directory,
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"),
            main,
            arguments));
    Path printed = Files.createTempFile(directory, "printed", ".txt");
    Path said = Files.createTempFile(directory, "said", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(printed.toFile()).redirectError(said.toFile());
    builder.environment().putAll(environment);
    builder.environment().put("TF_CPP_MIN_LOG_LEVEL", "2");
    return new Program(builder.start(), printed, said);
  }

  String text() throws IOException {
    return Files.readString(printed, UTF_8);
  }

  /// Waits until the program has printed a line with the prefix `line`.
  void await(String line) throws IOException {
    long begin = System.nanoTime();
    while (text().lines().noneMatch(each -> each.startsWith(line))) {
      if (!process.isAlive() || System.nanoTime() - begin > LIMIT_NANOS) {
        throw new IOException("no line '" + line + "', but: " + text() + Files.readString(said));
      }
      LockSupport.parkNanos(5_000_000);
    }
  }

  /// Closes the program's standard input and waits for its end. Returns its output.
  String end() throws IOException, InterruptedException {
    process.getOutputStream().close();
    if (!process.waitFor(LIMIT_NANOS, TimeUnit.NANOSECONDS)) {
      throw new IOException("still running, printed: " + text() + Files.readString(said));
    }
    return text();
  }

  /// Returns all listeners in the program's network as `ADDRESS:PORT` (proc(5)).
  TreeSet<String> listeners() throws IOException {
    var found = new TreeSet<String>();
    for (String table : List.of("tcp", "tcp6")) {
      Path file = Path.of("/proc/" + process.pid() + "/net/" + table);
      for (String line : Files.readAllLines(file)) {
        List<String> fields = List.of(line.strip().split(" +", -1));
        if (fields.get(3).equals(LISTENING)) {
          found.add(address(fields.get(1)));
        }
      }
    }
    return found;
  }

  /// Parses words of four bytes in this machine's order, and the port.
  private static String address(String text) throws IOException {
    int colon = text.indexOf(':');
    byte[] words = HexFormat.of().parseHex(text.substring(0, colon));
    byte[] bytes = new byte[words.length];
    for (int i = 0; i < words.length; i++) {
      bytes[i] = words[i / IPV4_BYTES * IPV4_BYTES + IPV4_BYTES - 1 - i % IPV4_BYTES];
    }
    return InetAddress.getByAddress(bytes).getHostAddress()
        + ":"
        + Integer.parseInt(text.substring(colon + 1), 16);
  }

  /// Kills the program.
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }
}
