// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/// The processes of one job, anywhere in the process tree. All have the job's mark in their
/// environment in `/proc`.
final class Processes {

  /// The variable with the mark. Launchers pass on variables with the prefix `WEFT_`.
  static final String MARK = "WEFT_TORTURE";

  private static final Path PROC = Path.of("/proc");

  private final String mark;

  Processes(String mark) {
    this.mark = mark;
  }

  /// Returns all running processes. A zombie does not count.
  List<ProcessHandle> alive() {
    var found = new ArrayList<ProcessHandle>();
    for (Path entry : entries()) {
      if (mark.equals(environment(entry).get(MARK)) && !isEnded(entry)) {
        handle(entry).ifPresent(found::add);
      }
    }
    return found;
  }

  /// Returns the ranks: Java processes with a rank.
  Map<Integer, ProcessHandle> ranks() {
    var ranks = new TreeMap<Integer, ProcessHandle>();
    for (Path entry : entries()) {
      Map<String, String> environment = environment(entry);
      String rank = environment.get("WEFT_RANK");
      if (mark.equals(environment.get(MARK)) && rank != null && isJava(entry)) {
        handle(entry).ifPresent(handle -> ranks.put(Integer.valueOf(rank), handle));
      }
    }
    return ranks;
  }

  /// Returns true for a process that has ended, including a zombie.
  static boolean isEnded(ProcessHandle process) {
    return !process.isAlive() || isEnded(PROC.resolve(Long.toString(process.pid())));
  }

  /// Sends a signal such as `STOP`.
  static void signal(String name, ProcessHandle process) throws IOException, InterruptedException {
    int code =
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
    if (code != 0) {
      throw new IOException("kill -" + name + " " + process.pid() + " ended with " + code);
    }
  }

  private static List<Path> entries() {
    try (Stream<Path> entries = Files.list(PROC)) {
      return entries.filter(entry -> entry.getFileName().toString().matches("\\d+")).toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static Optional<ProcessHandle> handle(Path entry) {
    return ProcessHandle.of(Long.parseLong(entry.getFileName().toString()));
  }

  /// Returns the environment of a process, empty if it does not belong to a harmed job.
  private static Map<String, String> environment(Path entry) {
    var environment = new TreeMap<String, String>();
    try {
      String all = Files.readString(entry.resolve("environ"), StandardCharsets.ISO_8859_1);
      if (!all.contains(MARK)) {
        return Map.of();
      }
      for (String variable : all.split("\0", -1)) {
        int equals = variable.indexOf('=');
        if (equals > 0) {
          environment.put(variable.substring(0, equals), variable.substring(equals + 1));
        }
      }
    } catch (IOException goneOrForeign) {
      return Map.of();
    }
    return environment;
  }

  private static boolean isJava(Path entry) {
    try {
      return Files.readSymbolicLink(entry.resolve("exe")).endsWith("java");
    } catch (IOException gone) {
      return false;
    }
  }

  /// Returns true for a zombie or dead process: `pid (name) S …`.
  private static boolean isEnded(Path entry) {
    try {
      String stat = Files.readString(entry.resolve("stat"), StandardCharsets.ISO_8859_1);
      return stat.substring(stat.lastIndexOf(')')).matches("\\) [ZX].*\\s*");
    } catch (IOException gone) {
      return true;
    }
  }
}
