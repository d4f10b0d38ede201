// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.report;

import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;

/// A file that a measurement writes in addition to its table. A failure to write it affects neither
/// the measurement nor other files.
///
/// @param option the option that requests the file
/// @param file the file's path
public record ReportFile(String option, Path file) {

  /// The code that writes the file.
  @FunctionalInterface
  public interface Writing {

    /// Replaces the file completely or not at all.
    void to(Path file) throws IOException;
  }

  /// Writes the file. Returns false after printing the reason of a failure to `err`.
  public boolean write(Writing writing, PrintWriter err) {
    try {
      writing.to(file);
      return true;
    } catch (IOException refused) {
      String reason = IoErrors.words(refused);
      err.println(
          "weft: cannot write %s %s: %s".formatted(option, file, reason.replace(file + ": ", "")));
      return false;
    }
  }
}
