// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.file.ForeignFile;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.Figure;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/// The file of finished rows, a JSON object on each line. It is written after each row, so that an
/// interrupted reproduction continues. Confined to one thread.
final class FigureRows {

  private static final JsonMapper MAPPER = new JsonMapper();
  private static final int MOST_BYTES = 64 << 20;

  private final Path file;
  private final Map<String, Figure> rows;

  private FigureRows(Path file, Map<String, Figure> rows) {
    this.file = file;
    this.rows = rows;
  }

  /// Reads the rows of former reproductions, none if the file does not exist. Throws
  /// `IllegalArgumentException` if the file is something else.
  static FigureRows read(Path file) {
    Map<String, Figure> rows = new LinkedHashMap<>();
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      try {
        List<String> lines = ForeignFile.named(file).text(MOST_BYTES).lines().toList();
        for (int i = 0; i < lines.size(); i++) {
          Figure row = parse(lines.get(i), file, i + 1);
          rows.put(key(row), row);
        }
      } catch (IOException unreadable) {
        throw new IllegalArgumentException(
            "--out: cannot read " + file + ": " + IoErrors.reason(unreadable), unreadable);
      }
    }
    return new FigureRows(file, rows);
  }

  @SuppressWarnings("unchecked")
  private static Figure parse(String line, Path file, int number) {
    try {
      Figure row = new Figure(MAPPER.readValue(line, Map.class));
      if (row.text("document").isEmpty()
          || row.text("figure").isEmpty()
          || row.text("mode").isEmpty()) {
        throw foreign(file, number, null);
      }
      return row;
    } catch (JacksonException malformed) {
      throw foreign(file, number, malformed);
    }
  }

  private static IllegalArgumentException foreign(Path file, int line, @Nullable Exception cause) {
    return new IllegalArgumentException(
        "--out: line %d of %s is not a row of weft reproduce; remove it, or give another directory"
            .formatted(line, file),
        cause);
  }

  private static String key(Figure row) {
    return key(row.text("document"), row.text("figure"), row.text("mode"));
  }

  private static String key(String document, String figure, String mode) {
    return document + " " + figure + " " + mode;
  }

  /// Returns the finished row of a figure in a mode.
  Optional<Figure> finished(PaperFigure figure, ReproductionMode mode) {
    return row(figure, mode).filter(row -> !row.has("incomplete"));
  }

  private Optional<Figure> row(PaperFigure figure, ReproductionMode mode) {
    return Optional.ofNullable(rows.get(key(figure.document(), figure.name(), mode.word())));
  }

  /// Adds a row and writes the file. Throws `PerfException.Failed` if it cannot be written.
  void add(Figure row) {
    rows.put(key(row), row);
    try {
      Figure.write(file, List.copyOf(rows.values()));
    } catch (IOException refused) {
      throw new PerfException.Failed(
          "cannot write " + file + ": " + IoErrors.words(refused), refused);
    }
  }

  /// Returns one row of each figure in the order of the documents: that of the mode, or else that
  /// of the other mode.
  List<Figure> shown(ReproductionMode mode) {
    ReproductionMode other =
        switch (mode) {
          case QUICK -> ReproductionMode.FULL;
          case FULL -> ReproductionMode.QUICK;
        };
    List<Figure> shown = new ArrayList<>();
    for (PaperFigure figure : PaperFigures.all()) {
      row(figure, mode).or(() -> row(figure, other)).ifPresent(shown::add);
    }
    return shown;
  }
}
