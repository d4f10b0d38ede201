// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.util.Objects;

/// A reader of LIBSVM text with values: `3 1:-0.25 2:1e-3 50:0.5`. Labels are whole numbers from 1;
/// indices count from 1 and ascend; features that a line does not name are 0. Numbers are encoded
/// by `Floats`.
public final class LibsvmValues {

  private static final int MOST_DIGITS = 9;

  private final int features;
  private final int classes;

  /// Creates a reader of lines of at most this number of features.
  public LibsvmValues(int features, int classes) {
    this.features = features;
    this.classes = classes;
  }

  /// Reads a part and notifies `progress`. Throws `Malformed`, which names the line.
  public Examples read(TextPart text, ReadProgress progress) {
    Objects.requireNonNull(text, "text");
    Objects.requireNonNull(progress, "progress");
    int count = text.count();
    if (count == 0 && text.parts() == 1) {
      throw text.file().malformed("lines like '1 1:0.5 2:-0.25'", "an empty file");
    }
    RowBuilder rows = RowBuilder.of(text.file(), Floats.BYTES * features, classes, count);
    text.read(
        line -> {
          progress.at(rows.count(), count, "lines");
          row(line, rows);
          return true;
        });
    return text.file().within(rows::build);
  }

  /// Throws `Malformed` unless the first `lines` lines of a file have the format.
  public void check(DataFile file, int lines) {
    Objects.requireNonNull(file, "file");
    var rows = new RowBuilder(Floats.BYTES * features, classes, 1f);
    new TextPart(file, 0, 1)
        .read(
            line -> {
              row(line, rows);
              return rows.count() < lines;
            });
    if (rows.count() == 0) {
      throw file.malformed("lines like '1 1:0.5 2:-0.25'", "an empty file");
    }
  }

  private void row(TextPart.Line line, RowBuilder rows) {
    int at = word(line, line.from());
    int end = end(line, at);
    float label = DecimalText.parse(line.bytes(), at, end);
    if (!(label >= 1 && label <= classes) || label != (int) label) {
      throw line.malformed("a label of 1 to " + classes, line.quoted(at, end));
    }
    byte[] row = rows.next((byte) ((int) label - 1));
    int previous = 0;
    for (at = word(line, end); at < line.to(); at = word(line, end)) {
      end = end(line, at);
      int colon = colon(line, at, end);
      int index = index(line, at, colon);
      if (index <= previous || index > features) {
        throw line.malformed(
            "features index:value with rising indices of 1 to " + features, line.quoted(at, end));
      }
      float value = DecimalText.parse(line.bytes(), colon + 1, end);
      if (Float.isNaN(value)) {
        throw line.malformed("a finite number as value of feature " + index, line.quoted(at, end));
      }
      Floats.put(row, index - 1, value);
      previous = index;
    }
    rows.add();
  }

  /// Returns the start of the word at or after a position; the end of the line if there is none.
  private static int word(TextPart.Line line, int from) {
    int at = from;
    while (at < line.to() && isSpace(line.bytes()[at])) {
      at++;
    }
    return at;
  }

  private static int end(TextPart.Line line, int from) {
    int at = from;
    while (at < line.to() && !isSpace(line.bytes()[at])) {
      at++;
    }
    return at;
  }

  private static boolean isSpace(byte character) {
    return character == ' ' || character == '\t';
  }

  private static int colon(TextPart.Line line, int from, int to) {
    int at = from;
    while (at < to && line.bytes()[at] != ':') {
      at++;
    }
    return at;
  }

  /// Returns the whole number before a colon, 0 for anything else.
  private static int index(TextPart.Line line, int from, int colon) {
    if (colon == from || colon - from > MOST_DIGITS) {
      return 0;
    }
    int index = 0;
    for (int i = from; i < colon; i++) {
      int digit = line.bytes()[i] - '0';
      if (digit < 0 || digit > 9) {
        return 0;
      }
      index = 10 * index + digit;
    }
    return index;
  }
}
