// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.report;

import io.weft.transport.limit.Refusal;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;

/// A file that a measurement leaves beside its table. What cannot be written costs neither the
/// measurement nor the other files.
///
/// @param option that asked for it
public record ReportFile(String option, Path file) {

  /// What writes it.
  @FunctionalInterface
  public interface Writing {

    /// Replaces the file, whole or not at all.
    void to(Path file) throws IOException;
  }

  /// Whether it is written; if not, says why on `err`.
  public boolean write(Writing writing, PrintWriter err) {
    try {
      writing.to(file);
      return true;
    } catch (IOException refused) {
      String reason = Refusal.words(refused);
      err.println(
          "weft: cannot write %s %s: %s".formatted(option, file, reason.replace(file + ": ", "")));
      return false;
    }
  }
}
