// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Checks processor, memory, kernel and shared memory.
final class MachineChecks {

  private static final String AREA = "machine";
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final long ENOUGH_SHARED = 256L << 20;
  private static final long ENOUGH_MEMORY = 2L << 30;

  private MachineChecks() {}

  static List<CheckResult> look() {
    var findings = new ArrayList<CheckResult>();
    int cores = Runtime.getRuntime().availableProcessors();
    String model =
        SystemFiles.field("/proc/cpuinfo", "model name").orElse(System.getProperty("os.arch"));
    findings.add(
        cores > 1
            ? CheckResult.works(AREA, "processor", model + ", " + cores + " cores for this process")
            : CheckResult.limited(
                AREA, "processor", model + ", 1 core", "expect ranks to take turns on it"));
    findings.add(memory());
    findings.add(
        CheckResult.works(
            AREA,
            "kernel",
            System.getProperty("os.name")
                + " "
                + System.getProperty("os.version")
                + " "
                + System.getProperty("os.arch")));
    findings.add(sharedMemory());
    return findings;
  }

  private static CheckResult memory() {
    Optional<Long> available =
        SystemFiles.field("/proc/meminfo", "MemAvailable")
            .map(text -> Long.parseLong(text.replaceAll("\\D", "")) << 10);
    Optional<Long> total =
        SystemFiles.field("/proc/meminfo", "MemTotal")
            .map(text -> Long.parseLong(text.replaceAll("\\D", "")) << 10);
    if (available.isEmpty() || total.isEmpty()) {
      return CheckResult.works(AREA, "memory", "unknown on this system");
    }
    String text =
        SystemFiles.size(total.get()) + ", " + SystemFiles.size(available.get()) + " available";
    return available.get() >= ENOUGH_MEMORY
        ? CheckResult.works(AREA, "memory", text)
        : CheckResult.limited(
            AREA, "memory", text, "a TensorFlow rank takes about 1 GiB; start fewer ranks");
  }

  private static CheckResult sharedMemory() {
    String subject = SHARED_MEMORY.toString();
    try {
      FileStore store = Files.getFileStore(SHARED_MEMORY);
      String text =
          SystemFiles.size(store.getTotalSpace())
              + ", "
              + SystemFiles.size(store.getUsableSpace())
              + " free";
      if (!Files.isWritable(SHARED_MEMORY)) {
        return CheckResult.missing(AREA, subject, "not writable", "make it writable: mode 1777");
      }
      return store.getUsableSpace() >= ENOUGH_SHARED
          ? CheckResult.works(AREA, subject, text)
          : CheckResult.limited(
              AREA, subject, text, "in a container, start it with --shm-size=1g or more");
    } catch (IOException absent) {
      return CheckResult.missing(AREA, subject, "not there", "mount a tmpfs there");
    }
  }
}
