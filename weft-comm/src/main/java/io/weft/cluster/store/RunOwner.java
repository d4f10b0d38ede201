// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.JobProcess;
import io.weft.cluster.watch.ProcessIdentity;
import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The owner of a run directory, as noted in the directory, so that other processes of this user
/// can recognize the remains of a killed process.
///
/// @param identity a `ProcessIdentity`
/// @param host the name of its host
/// @param boot the identifier of the boot of its kernel
record RunOwner(String identity, String host, String boot) {

  private static final String FILE = "owner";
  private static final int MOST_BYTES = 1024;

  static RunOwner current() {
    JobProcess process = JobProcess.current();
    return new RunOwner(process.identity(), process.host(), process.boot());
  }

  void write(Path run) throws IOException {
    String text = identity + "\n" + host + "\n" + boot + "\n";
    NewFile.createPrivate(run.resolve(FILE), text.getBytes(StandardCharsets.UTF_8));
  }

  /// Reads the owner of a run directory. Empty if the directory does not name one.
  static Optional<RunOwner> of(Path run) {
    Path file = run.resolve(FILE);
    try {
      List<String> lines = ForeignFile.found(file).text(MOST_BYTES).lines().toList();
      return lines.size() == 3
          ? Optional.of(new RunOwner(lines.get(0), lines.get(1), lines.get(2)))
          : Optional.empty();
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }

  /// Returns whether this process can be certain that the owner has ended: the owner's host has
  /// booted since, or the owner has ended in the process namespace of this process. Nothing is
  /// certain about another host or container.
  boolean hasEnded() {
    RunOwner here = current();
    if (host.isEmpty() || boot.isEmpty() || !host.equals(here.host)) {
      return false;
    }
    if (!here.boot.isEmpty() && !boot.equals(here.boot)) {
      return true;
    }
    @Nullable ProcessIdentity process = ProcessIdentity.parse(identity);
    return process != null && process.hasEnded();
  }
}
