// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.CommException;
import java.util.ArrayList;
import java.util.List;

/// Slurm's compressed list of host names: `gnode[10,20-25],login1`, zero-padded as written. Pure.
final class SlurmHosts {

  private static final int MOST = 65_536;

  private SlurmHosts() {}

  /// In order; `source` names the variable for the message.
  static List<String> expand(String list, String source) {
    var hosts = new ArrayList<String>();
    try {
      int start = 0;
      int depth = 0;
      for (int at = 0; at <= list.length(); at++) {
        char character = at == list.length() ? ',' : list.charAt(at);
        if (character == '[') {
          depth++;
        } else if (character == ']') {
          depth--;
        } else if (character == ',' && (depth == 0 || at == list.length())) {
          expandOne("", list.substring(start, at).strip(), hosts);
          start = at + 1;
        }
      }
    } catch (IllegalArgumentException malformed) {
      throw new CommException.Setup(
          source
              + " is '"
              + list
              + "'; it must be a list such as gnode[10,20-25],login1: "
              + malformed.getMessage(),
          malformed);
    }
    return List.copyOf(hosts);
  }

  private static void expandOne(String prefix, String rest, List<String> hosts) {
    int open = rest.indexOf('[');
    if (open < 0) {
      if ((prefix + rest).isEmpty() || rest.indexOf(']') >= 0) {
        throw new IllegalArgumentException("a host's name is empty or has a stray bracket");
      }
      if (hosts.size() == MOST) {
        throw new IllegalArgumentException("more than " + MOST + " hosts");
      }
      hosts.add(prefix + rest);
      return;
    }
    int close = rest.indexOf(']', open);
    if (close < 0) {
      throw new IllegalArgumentException("a bracket is not closed");
    }
    String before = prefix + rest.substring(0, open);
    String after = rest.substring(close + 1);
    for (String range : rest.substring(open + 1, close).split(",", -1)) {
      if (!range.matches("[0-9]{1,9}(-[0-9]{1,9})?")) {
        throw new IllegalArgumentException("'" + range + "' is no number or range");
      }
      int dash = range.indexOf('-');
      String first = dash < 0 ? range : range.substring(0, dash);
      int last = Integer.parseInt(dash < 0 ? range : range.substring(dash + 1));
      if (last < Integer.parseInt(first)) {
        throw new IllegalArgumentException("range '" + range + "' runs backwards");
      }
      for (int number = Integer.parseInt(first); number <= last; number++) {
        String digits = Integer.toString(number);
        String padded = "0".repeat(Math.max(0, first.length() - digits.length())) + digits;
        expandOne(before + padded, after, hosts);
      }
    }
  }
}
