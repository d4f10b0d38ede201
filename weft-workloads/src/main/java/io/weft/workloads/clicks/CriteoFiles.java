// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.clicks;

import io.weft.workloads.data.DataFile;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import io.weft.workloads.data.RowBuilder;
import java.nio.file.Path;
import java.util.List;

/// Criteo's display advertising challenge. Each line of `train.txt` has 40 fields separated by
/// tabs: the label 0 or 1, 13 numbers, and 26 categories of 8 hexadecimal digits. Any of the 39
/// values may be missing. Numbers are mapped to ids by their logarithm, categories by a remainder.
/// The published test file has no labels, so every tenth line is reserved for testing.
///
/// @param directory of the file
public record CriteoFiles(Path directory) implements DataSource {

  private static final int NUMBERS = 13;
  private static final int CATEGORIES = 26;
  private static final int COLUMNS = NUMBERS + CATEGORIES;
  private static final int MOST_LINES = 2_000_000;
  private static final int CHECKED_LINES = 10;
  private static final int TESTED = 10;
  private static final String REMEDY =
      "the file is published at https://www.kaggle.com/c/criteo-display-ad-challenge and mirrored"
          + " by others; without --data the workload makes its own clicks";

  @Override
  public String name() {
    return "Criteo's clicks in " + directory;
  }

  @Override
  public void check() {
    Examples unused = read(CHECKED_LINES, false, file(), ReadProgress.SILENT);
  }

  @Override
  public Examples train(ReadProgress progress) {
    return read(MOST_LINES, false, file(), progress);
  }

  @Override
  public Examples test(ReadProgress progress) {
    return read(MOST_LINES, true, file(), progress);
  }

  private DataFile file() {
    return DataFile.find(directory, List.of("train.txt"), REMEDY);
  }

  private static Examples read(int most, boolean test, DataFile file, ReadProgress progress) {
    var rows = new RowBuilder(Ids.BYTES * COLUMNS, 2, 1f);
    file.lines(
        (line, number) -> {
          progress.at(number, ReadProgress.UNKNOWN, "lines");
          if (!line.isBlank() && (number % TESTED == 0) == test) {
            row(file, rows, line, number);
          }
          return number < most;
        });
    if (rows.count() == 0) {
      throw file.malformed("at least " + TESTED + " lines of clicks", "fewer");
    }
    return file.within(rows::build);
  }

  private static void row(DataFile file, RowBuilder rows, String line, int number) {
    String[] fields = line.split("\t", -1);
    if (fields.length != 1 + COLUMNS) {
      throw file.malformed(
          1 + COLUMNS + " fields between tabs in line " + number, fields.length + " fields");
    }
    byte label =
        switch (fields[0]) {
          case "0" -> 0;
          case "1" -> 1;
          default -> throw file.malformed("0 or 1 at the start of line " + number, clip(fields[0]));
        };
    byte[] row = rows.next(label);
    for (int c = 0; c < COLUMNS; c++) {
      String field = fields[1 + c];
      int id = c < NUMBERS ? ofNumber(field) : ofCategory(field);
      if (id < 0) {
        throw file.malformed(
            (c < NUMBERS ? "a whole number" : "8 hexadecimal digits")
                + ", or nothing, as field "
                + (2 + c)
                + " of line "
                + number,
            clip(field));
      }
      Ids.put(row, c, id);
    }
    rows.add();
  }

  /// Returns 0 if empty, 1 if negative, then two ids per power of two; -1 if not a number.
  private static int ofNumber(String field) {
    if (field.isEmpty()) {
      return 0;
    }
    try {
      long value = Long.parseLong(field);
      return value < 0 ? 1 : 2 + (int) (2 * (Math.log1p((double) value) / Math.log(2)));
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /// Returns 0 for an empty field, and -1 if the field is not a category.
  private static int ofCategory(String field) {
    if (field.isEmpty()) {
      return 0;
    }
    try {
      return 1 + Integer.remainderUnsigned(Integer.parseUnsignedInt(field, 16), Ids.VOCABULARY - 1);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static String clip(String field) {
    return "'" + (field.length() <= 40 ? field : field.substring(0, 40) + "…") + "'";
  }
}
