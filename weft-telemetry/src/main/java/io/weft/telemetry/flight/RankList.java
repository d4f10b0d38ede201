// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;

/// Lists of ranks as text: `0-2,7`, or `-` for none. A list keeps its order.
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

  /// Parses a list. Throws `IllegalArgumentException` if the text is not such a list, has a rank
  /// that is not below `size`, or has more than `most` ranks.
  ///
  /// The memory of the list is proportional to the text, regardless of the number of ranks.
  static List<Integer> read(String text, int size, int most) {
    if (text.equals("-")) {
      return List.of();
    }
    String[] all = text.split(",", -1);
    int[] firsts = new int[all.length];
    int[] ends = new int[all.length];
    int count = 0;
    for (int i = 0; i < all.length; i++) {
      String range = all[i];
      if (!range.matches("[0-9]{1,6}(-[0-9]{1,6})?")) {
        throw new IllegalArgumentException("'" + range + "' is not a rank or range of ranks");
      }
      int hyphen = range.indexOf('-');
      int first = Integer.parseInt(hyphen < 0 ? range : range.substring(0, hyphen));
      int last = hyphen < 0 ? first : Integer.parseInt(range.substring(hyphen + 1));
      if (first > last || last >= size) {
        throw new IllegalArgumentException(range + " is not within the ranks 0 to " + (size - 1));
      }
      if (last - first >= most - count) {
        throw new IllegalArgumentException("more than " + most + " ranks");
      }
      count += last - first + 1;
      firsts[i] = first;
      ends[i] = count;
    }
    return new Ranges(firsts, ends);
  }

  /// Returns an unmodifiable list, without a copy if the list was parsed.
  static List<Integer> copyOf(List<Integer> ranks) {
    return ranks instanceof Ranges ? ranks : List.copyOf(ranks);
  }

  /// A sequence of ranges of ranks. Immutable.
  private static final class Ranges extends AbstractList<Integer> implements RandomAccess {

    private final int[] firsts;
    private final int[] ends;

    /// @param firsts the first rank of each range
    /// @param ends the number of ranks up to the end of each range
    Ranges(int[] firsts, int[] ends) {
      this.firsts = firsts;
      this.ends = ends;
    }

    @Override
    public Integer get(int index) {
      Objects.checkIndex(index, size());
      int found = Arrays.binarySearch(ends, index);
      int range = found >= 0 ? found + 1 : -found - 1;
      int before = range == 0 ? 0 : ends[range - 1];
      return firsts[range] + index - before;
    }

    @Override
    public int size() {
      return ends[ends.length - 1];
    }
  }
}
