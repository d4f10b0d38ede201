// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.census;

import io.weft.workloads.data.DataFile;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import io.weft.workloads.data.RowBuilder;
import java.util.ArrayList;
import java.util.List;

/// A reader of the published CSV: 14 attributes and the label, separated by a comma and a space.
/// `?` is a missing value. The test file may begin with a comment, and its labels end in a dot.
final class CensusCsv {

  private static final int COLUMNS = Encoding.ATTRIBUTES.size() + 1;

  private CensusCsv() {}

  static Examples read(DataFile file) {
    return read(file, Integer.MAX_VALUE);
  }

  /// Reads at most `limit` rows from the start.
  static Examples read(DataFile file, int limit) {
    return read(file, limit, ReadProgress.SILENT);
  }

  /// Reads at most `limit` rows from the start and notifies `progress`.
  static Examples read(DataFile file, int limit, ReadProgress progress) {
    var rows = new RowBuilder(Encoding.FEATURES, 2, 1f);
    file.lines(
        (line, number) -> {
          progress.at(number, ReadProgress.UNKNOWN, "lines");
          if (!line.isBlank() && !(number == 1 && line.startsWith("|"))) {
            row(file, rows, split(line), number);
          }
          return rows.count() < limit;
        });
    if (rows.count() == 0) {
      throw file.malformed("lines of " + COLUMNS + " columns", "an empty file");
    }
    return file.within(rows::build);
  }

  private static List<String> split(String line) {
    var texts = new ArrayList<String>();
    for (String text : line.split(",", COLUMNS + 1)) {
      texts.add(text.strip());
    }
    return texts;
  }

  private static void row(DataFile file, RowBuilder rows, List<String> texts, int number) {
    if (texts.size() != COLUMNS) {
      throw file.malformed(
          COLUMNS + " columns with commas between in line " + number,
          texts.size() > COLUMNS ? "more" : Integer.toString(texts.size()));
    }
    byte label =
        switch (texts.getLast()) {
          case "<=50K", "<=50K." -> 0;
          case ">50K", ">50K." -> 1;
          case String other ->
              throw file.malformed("label <=50K or >50K in line " + number, quoted(other));
        };
    int wrong = Encoding.encode(texts, rows.next(label));
    if (wrong >= 0) {
      Attribute attribute = Encoding.ATTRIBUTES.get(wrong);
      throw file.malformed(
          attribute.title() + " in line " + number + " to be " + attribute.allowed(),
          quoted(texts.get(wrong)));
    }
    if (rows.isFull()) {
      throw file.malformed("less than line " + number, "more rows");
    }
    rows.add();
  }

  private static String quoted(String text) {
    return "'" + (text.length() <= 40 ? text : text.substring(0, 40) + "…") + "'";
  }
}
