// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.collisions;

import io.weft.workloads.data.DataFile;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.Floats;
import io.weft.workloads.data.ReadProgress;
import io.weft.workloads.data.RowBuilder;
import io.weft.workloads.data.TextPart;

/// A reader of the published CSV: 29 numbers a line with commas between, the label first.
final class HiggsCsv {

  /// The numbers of a collision.
  static final int FEATURES = 28;

  private static final int COLUMNS = 1 + FEATURES;
  private static final String EXPECTED = COLUMNS + " columns with commas between";

  private HiggsCsv() {}

  /// Throws `Malformed` unless the first `lines` lines of a file have the format.
  static void check(DataFile file, int lines) {
    var rows = new RowBuilder(Floats.BYTES * FEATURES, 2, 1f);
    var fields = new TextPart.Fields(COLUMNS);
    new TextPart(file, 0, 1)
        .read(
            line -> {
              row(line, fields, rows);
              return rows.count() < lines;
            });
    if (rows.count() == 0) {
      throw file.malformed("lines of " + EXPECTED, "an empty file");
    }
  }

  /// Reads a part and notifies `progress`. Throws `Malformed`, which names the line.
  static Examples read(TextPart text, ReadProgress progress) {
    int count = text.count();
    if (count == 0 && text.parts() == 1) {
      throw text.file().malformed("lines of " + EXPECTED, "an empty file");
    }
    RowBuilder rows = RowBuilder.of(text.file(), Floats.BYTES * FEATURES, 2, count);
    var fields = new TextPart.Fields(COLUMNS);
    text.read(
        line -> {
          progress.at(rows.count(), count, "lines");
          row(line, fields, rows);
          return true;
        });
    return text.file().within(rows::build);
  }

  private static void row(TextPart.Line line, TextPart.Fields fields, RowBuilder rows) {
    int count = fields.split(line, (byte) ',');
    if (count != COLUMNS) {
      throw line.malformed(EXPECTED, count > COLUMNS ? "more" : Integer.toString(count));
    }
    if (!line.isTerminated() && isCut(line, fields)) {
      throw line.malformed(
          "a number of " + fields.digits(line, 0) + " characters at the end",
          "the end of the file after " + fields.quoted(line, FEATURES));
    }
    float label = fields.number(line, 0);
    if (label != 0 && label != 1) {
      throw line.malformed("label 0 or 1 at the start", fields.quoted(line, 0));
    }
    byte[] row = rows.next((byte) label);
    for (int c = 1; c < COLUMNS; c++) {
      float value = fields.number(line, c);
      if (Float.isNaN(value)) {
        throw line.malformed("a finite number as column " + (c + 1), fields.quoted(line, c));
      }
      Floats.put(row, c - 1, value);
    }
    rows.add();
  }

  /// Returns whether the last number of a line without end is shorter than the others, which have
  /// equal lengths in the published file: then the file has been cut.
  private static boolean isCut(TextPart.Line line, TextPart.Fields fields) {
    int length = fields.digits(line, 0);
    for (int c = 1; c < FEATURES; c++) {
      if (fields.digits(line, c) != length) {
        return false;
      }
    }
    return fields.digits(line, FEATURES) < length;
  }
}
