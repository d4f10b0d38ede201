// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// A simulation that is repeated in separate processes: twice with one garbage collector, and with
/// other collectors.
public final class DeterminismCheck {

  private static final List<String> COLLECTORS = List.of("Serial", "Serial", "G1", "Z");
  private static final long LIMIT_SECONDS = 120;

  private DeterminismCheck() {}

  /// Prints the hashes. Returns the exit code.
  static int run(List<String> arguments, PrintStream out) throws InterruptedException {
    Map<String, String> hashes = hashes(arguments);
    hashes.forEach((jvm, hash) -> out.println(hash + "  " + jvm));
    return List.copyOf(hashes.values()).stream().distinct().count() == 1 ? 0 : 1;
  }

  /// Returns the trace's hash of each process, which is described in words. Throws
  /// `IllegalStateException` with the output of a process if it fails.
  ///
  /// @param arguments the arguments of `tools/simulate hash`
  public static Map<String, String> hashes(List<String> arguments) throws InterruptedException {
    Map<String, String> hashes = new LinkedHashMap<>();
    for (String collector : COLLECTORS) {
      String name = "process " + (hashes.size() + 1) + ", -XX:+Use" + collector + "GC";
      hashes.put(name, hash(collector, arguments));
    }
    return hashes;
  }

  private static String hash(String collector, List<String> arguments) throws InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--"))
        .forEach(command::add);
    command.addAll(List.of("-XX:+Use" + collector + "GC", "-Xmx512m", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Simulate.class.getName(), "hash"));
    command.addAll(arguments);
    try {
      // The output fits into the pipe, so the process never waits for a reader.
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      try {
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
          throw new IllegalStateException(command + " did not end in " + LIMIT_SECONDS + " s");
        }
        String said = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
        if (process.exitValue() != 0) {
          throw new IllegalStateException(command + " failed: " + said);
        }
        return said.substring(said.lastIndexOf('\n') + 1);
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      throw new IllegalStateException("cannot run " + command, e);
    }
  }
}
