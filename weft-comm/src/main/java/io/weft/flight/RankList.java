// SPDX-License-Identifier: Apache-2.0
package io.weft.flight;

import java.util.ArrayList;
import java.util.List;

/// Ranks as text: `0-2,7`, or `-` for none; ascending where they were ascending.
final class RankList {

  private RankList() {}

  static String write(List<Integer> ranks) {
    if (ranks.isEmpty()) {
      return "-";
    }
    var text = new StringBuilder();
    for (int at = 0; at < ranks.size(); at++) {
      int first = ranks.get(at);
      int last = first;
      while (at + 1 < ranks.size() && ranks.get(at + 1) == last + 1) {
        last++;
        at++;
      }
      text.append(text.isEmpty() ? "" : ",").append(first);
      if (last > first) {
        text.append('-').append(last);
      }
    }
    return text.toString();
  }

  /// Throws `IllegalArgumentException` where it is not such a list, has a rank that is not below
  /// `size`, or has more than `most` ranks.
  static List<Integer> read(String text, int size, int most) {
    List<Integer> ranks = new ArrayList<>();
    if (text.equals("-")) {
      return ranks;
    }
    for (String range : text.split(",", -1)) {
      if (!range.matches("[0-9]{1,6}(-[0-9]{1,6})?")) {
        throw new IllegalArgumentException("'" + range + "' is no rank and no range of ranks");
      }
      int hyphen = range.indexOf('-');
      int first = Integer.parseInt(hyphen < 0 ? range : range.substring(0, hyphen));
      int last = hyphen < 0 ? first : Integer.parseInt(range.substring(hyphen + 1));
      if (first > last || last >= size) {
        throw new IllegalArgumentException(range + " is not within the ranks 0 to " + (size - 1));
      }
      if (last - first >= most - ranks.size()) {
        throw new IllegalArgumentException("more than " + most + " ranks");
      }
      for (int rank = first; rank <= last; rank++) {
        ranks.add(rank);
      }
    }
    return ranks;
  }
}
