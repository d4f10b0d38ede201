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

/// The processes of one job, wherever they hang in the tree: all carry the job's mark in their
/// environment, as `/proc` shows it.
final class Processes {

  /// The variable with the mark. Launchers hand on what begins with `WEFT_`.
  static final String MARK = "WEFT_TORTURE";

  private static final Path PROC = Path.of("/proc");

  private final String mark;

  Processes(String mark) {
    this.mark = mark;
  }

  /// All that live; those that have ended and were not waited for do not count.
  List<ProcessHandle> alive() {
    var found = new ArrayList<ProcessHandle>();
    for (Path entry : entries()) {
      if (mark.equals(environment(entry).get(MARK)) && !isOver(entry)) {
        handle(entry).ifPresent(found::add);
      }
    }
    return found;
  }

  /// The ranks: processes of Java that have a rank.
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

  /// Whether it runs no more, though perhaps nobody has asked for its exit code yet.
  static boolean isOver(ProcessHandle process) {
    return !process.isAlive() || isOver(PROC.resolve(Long.toString(process.pid())));
  }

  /// Sends a signal, such as `STOP`.
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

  /// Empty for a process of no job that is harmed.
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

  /// `pid (name) S …`: a zombie or dead.
  private static boolean isOver(Path entry) {
    try {
      String stat = Files.readString(entry.resolve("stat"), StandardCharsets.ISO_8859_1);
      return stat.substring(stat.lastIndexOf(')')).matches("\\) [ZX].*\\s*");
    } catch (IOException gone) {
      return true;
    }
  }
}
