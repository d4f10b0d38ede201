// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import static io.weft.workloads.TrainCommandLine.text;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.model.Workload;
import io.weft.workloads.text.DrawnSentences;
import io.weft.workloads.text.TextFiles;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.ParseResult;

/// The option `--context`, and the text of the language model.
final class ContextFlag {

  static final String NAME = "--context";
  static final String DESCRIPTION =
      "characters that tiny-gpt sees, from 8 to 1024; default " + Workload.TINY_GPT.features();

  private static final int LEAST = 8;
  private static final int MOST = 1024;

  private ContextFlag() {}

  /// Returns the text; empty for a workload without text. Throws `BadOption`.
  ///
  /// @param data the file or directory of text; if empty, sentences are drawn
  static Optional<DataSource> source(
      ParseResult parsed, Workload workload, Optional<Path> data, long seed) {
    if (workload != Workload.TINY_GPT) {
      text(parsed, NAME)
          .ifPresent(
              given -> {
                throw BadOption.of(NAME, given, "tiny-gpt with it, not " + workload.title());
              });
      return Optional.empty();
    }
    int context = (int) TrainCommandLine.whole(parsed, NAME, workload.features(), LEAST, MOST);
    return Optional.of(
        data.<DataSource>map(path -> new TextFiles(path, context))
            .orElseGet(() -> new DrawnSentences(context, seed)));
  }
}
