// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.util.StringTokenizer;

/// A reader of LIBSVM text of two classes with binary features: `-1 3:1 11:1 14:1`. Indices count
/// from 1 and ascend; features that a line does not name are 0. Labels are -1 (or 0) and +1.
public final class Libsvm {

  private Libsvm() {}

  /// Reads the whole file. Throws `Malformed`, which names the line.
  public static Examples read(DataFile file, int features) {
    return read(file, features, ReadProgress.SILENT);
  }

  /// Reads the whole file and notifies `progress`. Throws `Malformed`, which names the line.
  public static Examples read(DataFile file, int features, ReadProgress progress) {
    var rows = new RowBuilder(features, 2, 1f);
    file.lines(
        (line, number) -> {
          progress.at(number, ReadProgress.UNKNOWN, "lines");
          if (!line.isBlank()) {
            row(file, rows, line, number);
          }
          return true;
        });
    if (rows.count() == 0) {
      throw file.malformed("lines like '-1 3:1 11:1'", "an empty file");
    }
    return file.within(rows::build);
  }

  private static void row(DataFile file, RowBuilder rows, String line, int number) {
    var words = new StringTokenizer(line);
    byte label =
        switch (words.nextToken()) {
          case "+1", "1" -> 1;
          case "-1", "0" -> 0;
          case String other ->
              throw file.malformed(
                  "label -1 or +1 at the start of line " + number, "'" + clip(other) + "'");
        };
    byte[] row = rows.next(label);
    int previous = 0;
    while (words.hasMoreTokens()) {
      String word = words.nextToken();
      int index = index(word);
      if (index <= previous || index > row.length) {
        throw file.malformed(
            "features index:1 with rising indices of 1 to " + row.length + " in line " + number,
            "'" + clip(word) + "'");
      }
      row[index - 1] = 1;
      previous = index;
    }
    if (rows.isFull()) {
      throw file.malformed("less than line " + number, "more rows");
    }
    rows.add();
  }

  /// Returns the index in "index:1", 0 for any other word.
  private static int index(String word) {
    int colon = word.indexOf(':');
    if (colon < 1 || colon > 9) {
      return 0;
    }
    String value = word.substring(colon + 1);
    if (!value.equals("1") && !value.equals("1.0")) {
      return 0;
    }
    int index = 0;
    for (int i = 0; i < colon; i++) {
      int digit = word.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return 0;
      }
      index = 10 * index + digit;
    }
    return index;
  }

  private static String clip(String word) {
    return word.length() <= 40 ? word : word.substring(0, 40) + "…";
  }
}
