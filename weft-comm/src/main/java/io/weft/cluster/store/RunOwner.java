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

/// Whose a run directory is, as it says itself: so that others of this user can tell what a process
/// that was killed has left there.
///
/// @param identity a `ProcessIdentity`
/// @param host its host's name
/// @param boot which boot its kernel runs since
record RunOwner(String identity, String host, String boot) {

  private static final String FILE = "owner";
  private static final int MOST_BYTES = 1024;

  /// This process.
  static RunOwner current() {
    JobProcess process = JobProcess.current();
    return new RunOwner(process.identity(), process.host(), process.boot());
  }

  /// Notes it in a new run directory.
  void write(Path run) throws IOException {
    String text = identity + "\n" + host + "\n" + boot + "\n";
    NewFile.createPrivate(run.resolve(FILE), text.getBytes(StandardCharsets.UTF_8));
  }

  /// Empty where the directory does not say so.
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

  /// Whether it is certain here that the process has ended: its host has booted since, or it has
  /// ended under the process numbers that hold here. Of another host or container nothing is known.
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
