// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.watch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Which process a rank is, so that two with one rank are found out, and so that a rank on the same
/// host can say of a silent one whether it is stopped, has ended or lives. As text
/// `pid@start@namespace`.
///
/// @param pid its number
/// @param startMillis when it started, since 1970; 0 = not known
/// @param namespace in which the number holds, as Linux calls it; empty where there is none
public record ProcessIdentity(long pid, long startMillis, String namespace) {
  /// Throws `NullPointerException` where a part is missing.
  public ProcessIdentity {
    Objects.requireNonNull(namespace, "namespace");
  }

  private static final Path PROC = Path.of("/proc");

  /// The start is computed from the time of the boot, which moves when the clock is set.
  private static final long SAME_START_MILLIS = 5_000;

  /// Of `starttime` in /proc/PID/stat behind the name, where the state is 0 (proc(5): 22 and 3).
  private static final int START_AFTER_NAME = 19;

  /// This process.
  public static ProcessIdentity local() {
    return of(ProcessHandle.current());
  }

  /// A process that this one knows.
  public static ProcessIdentity of(ProcessHandle process) {
    String namespace;
    try {
      namespace = Files.readSymbolicLink(PROC.resolve("self/ns/pid")).toString();
    } catch (IOException | UnsupportedOperationException notLinux) {
      namespace = "";
    }
    return new ProcessIdentity(process.pid(), startOf(process), namespace);
  }

  /// When a process started, as text that all processes of this host work out alike, also when the
  /// clock is set meanwhile: in the kernel's ticks since the boot. In milliseconds since 1970 where
  /// no kernel says that.
  public static String startOnThisHost(ProcessHandle process) {
    try {
      String stat = Files.readString(PROC.resolve(Long.toString(process.pid())).resolve("stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return fields[START_AFTER_NAME];
    } catch (IOException | IndexOutOfBoundsException notLinux) {
      return Long.toString(startOf(process));
    }
  }

  /// Null where it is not one.
  public static @Nullable ProcessIdentity parse(String text) {
    String[] parts = text.split("@", -1);
    if (parts.length != 3 || !parts[0].matches("\\d{1,18}") || !parts[1].matches("\\d{1,18}")) {
      return null;
    }
    return new ProcessIdentity(Long.parseLong(parts[0]), Long.parseLong(parts[1]), parts[2]);
  }

  /// What has become of it, in words, as this process can see it; empty where it cannot: it is this
  /// process itself, or its number means nothing here. Both must be on one host.
  public String condition() {
    ProcessIdentity here = local();
    if (equals(here) || namespace.isEmpty() || !namespace.equals(here.namespace)) {
      return "";
    }
    return condition(PROC.resolve(Long.toString(pid)).resolve("stat"));
  }

  /// Whether it can be seen that it is stopped, by a signal or a debugger: then it reacts to
  /// nothing but to being killed.
  public boolean isStopped() {
    return condition().contains(" is stopped by ");
  }

  /// Whether it can be seen that it has ended.
  public boolean hasEnded() {
    return condition().contains(" has ended");
  }

  String condition(Path statFile) {
    String process = "its process " + pid;
    String stat;
    try {
      stat = Files.readString(statFile);
    } catch (NoSuchFileException ended) {
      return process + " has ended";
    } catch (IOException unreadable) {
      return "";
    }
    long start = ProcessHandle.of(pid).map(ProcessIdentity::startOf).orElse(0L);
    if (start != 0 && startMillis != 0 && Math.abs(start - startMillis) > SAME_START_MILLIS) {
      return process + " has ended";
    }
    // The name of the program stands in parentheses before the state, and may have some itself.
    char state = stat.charAt(Math.min(stat.lastIndexOf(')') + 2, stat.length() - 1));
    return switch (state) {
      case 'T' -> process + " is stopped by a signal (state T)";
      case 't' -> process + " is stopped by a debugger (state t)";
      case 'Z', 'X' -> process + " has ended (state " + state + ")";
      case 'D' -> process + " is there, and waits for a disk or the network (state D)";
      default ->
          process
              + " is there (state "
              + state
              + "): a long pause (garbage collection, no processor), or its progress thread stands"
              + " still";
    };
  }

  private static long startOf(ProcessHandle process) {
    return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
  }

  @Override
  public String toString() {
    return pid + "@" + startMillis + "@" + namespace;
  }
}
