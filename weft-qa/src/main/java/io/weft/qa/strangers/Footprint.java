// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.strangers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The maximum memory of each of a job's processes: the resident set that Linux counts, and the
/// memory besides heap and code that the JVM counts, such as direct buffers. The latter requires
/// `-XX:NativeMemoryTracking=summary`. Confined to one thread.
final class Footprint {

  private static final Pattern RESIDENT = Pattern.compile("VmHWM:\\s+(\\d+) kB");
  private static final Pattern RANK = Pattern.compile("\0WEFT_RANK=(\\d+)\0");
  private static final Pattern OTHER =
      Pattern.compile("Other \\(reserved=\\d+KB, committed=(\\d+)");
  private static final int JCMD_SECONDS = 20;

  private final Map<String, Long> resident = new TreeMap<>();
  private final Map<String, Long> direct = new TreeMap<>();

  /// Returns the maximum resident set of each process in KiB, by `launcher`, `rank 0` and so on.
  Map<String, Long> residentKibibytes() {
    return resident;
  }

  /// Returns the maximum observed memory of direct buffers in KiB, only for ranks.
  Map<String, Long> directKibibytes() {
    return direct;
  }

  /// Reads the kernel's high-water marks.
  void look(Iterable<ProcessHandle> processes) {
    for (ProcessHandle process : processes) {
      String status = text(process, "status");
      Matcher found = RESIDENT.matcher(status);
      if (found.find()) {
        resident.merge(name(process), Long.parseLong(found.group(1)), Math::max);
      }
    }
  }

  /// Queries the ranks' JVMs, which takes them some milliseconds.
  void ask(Iterable<ProcessHandle> processes) throws IOException, InterruptedException {
    for (ProcessHandle process : processes) {
      String name = name(process);
      if (name.startsWith("rank")) {
        Matcher found = OTHER.matcher(nativeMemory(process));
        if (found.find()) {
          direct.merge(name, Long.parseLong(found.group(1)), Math::max);
        }
      }
    }
  }

  private static String name(ProcessHandle process) {
    Matcher found = RANK.matcher("\0" + text(process, "environ"));
    return found.find() ? "rank " + found.group(1) : "launcher";
  }

  private static String text(ProcessHandle process, String file) {
    try {
      return Files.readString(
          Path.of("/proc/" + process.pid() + "/" + file), StandardCharsets.ISO_8859_1);
    } catch (IOException gone) {
      return "";
    }
  }

  private static String nativeMemory(ProcessHandle process)
      throws IOException, InterruptedException {
    Process jcmd =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                "" + process.pid(),
                "VM.native_memory",
                "summary",
                "scale=KB")
            .redirectErrorStream(true)
            .start();
    try (InputStream said = jcmd.getInputStream()) {
      String text = new String(said.readAllBytes(), StandardCharsets.UTF_8);
      if (!jcmd.waitFor(JCMD_SECONDS, TimeUnit.SECONDS)) {
        jcmd.destroyForcibly();
      }
      return text;
    }
  }
}
