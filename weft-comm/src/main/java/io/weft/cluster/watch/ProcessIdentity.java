// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.watch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The identity of a rank's process. It reveals two processes with one rank, and lets a rank on the
/// same host determine if a silent process is stopped, has ended or is alive. Its text form is
/// `pid@start@namespace`.
///
/// @param pid the process number
/// @param startMillis the start time, since 1970; 0 = unknown
/// @param namespace Linux's name of the namespace of the process number; empty if there is none
public record ProcessIdentity(long pid, long startMillis, String namespace) {
  /// Throws `NullPointerException` if a component is null.
  public ProcessIdentity {
    Objects.requireNonNull(namespace, "namespace");
  }

  private static final Path PROC = Path.of("/proc");

  /// Tolerance of start times, which are computed from the boot time and move when the clock is
  /// set.
  private static final long SAME_START_MILLIS = 5_000;

  /// Index of `starttime` in /proc/PID/stat after the name, with the state at index 0 (proc(5):
  /// fields 22 and 3).
  private static final int START_AFTER_NAME = 19;

  /// Returns the identity of this process.
  public static ProcessIdentity local() {
    return of(ProcessHandle.current());
  }

  /// Returns the identity of a process of this host.
  public static ProcessIdentity of(ProcessHandle process) {
    String namespace;
    try {
      namespace = Files.readSymbolicLink(PROC.resolve("self/ns/pid")).toString();
    } catch (IOException | UnsupportedOperationException notLinux) {
      namespace = "";
    }
    return new ProcessIdentity(process.pid(), startOf(process), namespace);
  }

  /// Returns the start of a process as text that all processes of this host compute identically,
  /// even if the clock is set in between: in the kernel's ticks since the boot, or in milliseconds
  /// since 1970 where the kernel does not provide the ticks.
  public static String startOnThisHost(ProcessHandle process) {
    try {
      String stat = Files.readString(PROC.resolve(Long.toString(process.pid())).resolve("stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return fields[START_AFTER_NAME];
    } catch (IOException | IndexOutOfBoundsException notLinux) {
      return Long.toString(startOf(process));
    }
  }

  /// Parses the text form. Returns null if it is malformed.
  public static @Nullable ProcessIdentity parse(String text) {
    String[] parts = text.split("@", -1);
    if (parts.length != 3 || !parts[0].matches("\\d{1,18}") || !parts[1].matches("\\d{1,18}")) {
      return null;
    }
    return new ProcessIdentity(Long.parseLong(parts[0]), Long.parseLong(parts[1]), parts[2]);
  }

  /// Describes the state of the process as this process can see it. Empty if it is this process
  /// itself, or if its number has no meaning in this namespace. Both processes must be on one host.
  public String condition() {
    ProcessIdentity here = local();
    if (equals(here) || namespace.isEmpty() || !namespace.equals(here.namespace)) {
      return "";
    }
    return condition(PROC.resolve(Long.toString(pid)).resolve("stat"));
  }

  /// Returns whether the process is visibly stopped, by a signal or a debugger, so that it reacts
  /// only to SIGKILL.
  public boolean isStopped() {
    return condition().contains(" is stopped by ");
  }

  /// Returns whether the process has visibly ended.
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
    // The program's name is in parentheses before the state, and may contain parentheses itself.
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
