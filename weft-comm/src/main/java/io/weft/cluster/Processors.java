// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.stream.Stream;

/// The numbers of the processors that a process may use, as Linux writes them: `0-3,8`. Empty if
/// the system does not provide them. The ranks of one host together have the union of their sets:
/// ranks bound to different processors add up, ranks of one container share theirs.
///
/// @param list ranges in ascending order, without blanks
public record Processors(String list) {

  /// The unknown set.
  public static final Processors UNKNOWN = new Processors("");

  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String KEY = "Cpus_allowed_list:";
  private static final int MOST = 1 << 16;

  /// Throws `IllegalArgumentException` if the text is not such a list.
  public Processors {
    var unused = parse(list);
  }

  /// Returns the processors of this process.
  public static Processors allowed() {
    try (Stream<String> lines = Files.lines(STATUS)) {
      return lines
          .filter(line -> line.startsWith(KEY))
          .findFirst()
          .map(line -> new Processors(line.substring(KEY.length()).strip()))
          .orElse(UNKNOWN);
    } catch (IOException | IllegalArgumentException notLinux) {
      return UNKNOWN;
    }
  }

  /// Number of processors; 0 if unknown.
  public int count() {
    return set().cardinality();
  }

  /// Returns a copy as a bit set.
  public BitSet set() {
    return parse(list);
  }

  private static BitSet parse(String list) {
    var set = new BitSet();
    if (list.isEmpty()) {
      return set;
    }
    for (String range : list.split(",", -1)) {
      int dash = range.indexOf('-');
      int first = number(dash < 0 ? range : range.substring(0, dash), list);
      int last = dash < 0 ? first : number(range.substring(dash + 1), list);
      if (last < first) {
        throw new IllegalArgumentException("'" + list + "' is not a list of processors");
      }
      set.set(first, last + 1);
    }
    return set;
  }

  private static int number(String text, String list) {
    try {
      int number = Integer.parseInt(text);
      if (number >= 0 && number < MOST) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + list + "' is not a list of processors", e);
    }
    throw new IllegalArgumentException(
        "'" + list + "': processor " + text + " is not from 0 to " + (MOST - 1));
  }

  @Override
  public String toString() {
    return list;
  }
}
