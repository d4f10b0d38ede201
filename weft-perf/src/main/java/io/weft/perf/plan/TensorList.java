// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import io.weft.file.ForeignFile;
import io.weft.perf.gradients.GradientModel.ModelVariable;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A list of float32 tensors in a text file: a line `NAME SHAPE [USES]` for each variable, in the
/// order of the forward pass. A shape is `784x200`. `USES` is the number of multiplications of each
/// element for one example, by default 1; a convolution has one for each position. Empty lines and
/// lines that begin with `#` are skipped.
final class TensorList {

  private static final int MOST_FILE_BYTES = 16 << 20;
  private static final int MOST_TENSORS = 100_000;
  private static final long MOST_ELEMENTS = 1L << 36;
  private static final Pattern LINE =
      Pattern.compile("(\\S+)\\s+(\\d{1,12}(?:x\\d{1,12})*)(?:\\s+(\\d{1,9}))?");

  private TensorList() {}

  /// Reads a file. Throws `IllegalArgumentException` with the file, the line and the format.
  static List<ModelVariable> read(Path file, int batch) {
    String text;
    try {
      text = ForeignFile.named(file).text(MOST_FILE_BYTES);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "--tensors: cannot read " + file + ": " + IoErrors.reason(e), e);
    }
    return parse(text, file.toString(), batch);
  }

  /// @param file name of the file, for messages
  static List<ModelVariable> parse(String text, String file, int batch) {
    List<ModelVariable> variables = new ArrayList<>();
    List<String> lines = text.lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        variables.add(variable(line, "--tensors: " + file + " line " + (i + 1), batch));
      }
    }
    if (variables.isEmpty() || variables.size() > MOST_TENSORS) {
      throw new IllegalArgumentException(
          "--tensors: %s has %d tensors; allowed: 1 to %d, a line NAME SHAPE for each, such as"
                  .formatted(file, variables.size(), MOST_TENSORS)
              + " dense1 784x200");
    }
    return variables;
  }

  private static ModelVariable variable(String line, String place, int batch) {
    Matcher match = LINE.matcher(line);
    if (!match.matches()) {
      throw new IllegalArgumentException(
          "%s: '%s'; expected NAME SHAPE [USES], such as conv1 5x5x1x32 784"
              .formatted(place, line));
    }
    long elements = 1;
    for (String extent : match.group(2).split("x", -1)) {
      long more = Long.parseLong(extent);
      if (more < 1 || more > MOST_ELEMENTS / elements) {
        throw new IllegalArgumentException(
            "%s: shape %s; allowed: extents from 1, at most %d elements"
                .formatted(place, match.group(2), MOST_ELEMENTS));
      }
      elements *= more;
    }
    long uses = match.group(3) == null ? 1 : Long.parseLong(match.group(3));
    double work = WorkloadVariables.work(elements, Math.max(1, uses), batch);
    return ModelVariable.dense(match.group(1), elements, work);
  }
}
