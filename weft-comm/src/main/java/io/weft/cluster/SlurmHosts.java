// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.comm.CommException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// Slurm's compressed list of host names: `gnode[10,20-25],login1`, zero-padded as written. Pure.
final class SlurmHosts {

  private static final int MOST = 65_536;

  /// Maximum length of a DNS name.
  private static final int LONGEST_NAME = 253;

  private static final Pattern RANGE = Pattern.compile("[0-9]{1,9}(-[0-9]{1,9})?");

  /// Maximum length of all names together: 64 characters for each of the `MOST` hosts.
  private static final long MOST_CHARACTERS = MOST * 64L;

  private final List<String> hosts = new ArrayList<>();
  private long characters;

  private SlurmHosts() {}

  /// Returns the names in order. `source` names the variable, for the message.
  static List<String> expand(String list, String source) {
    var expansion = new SlurmHosts();
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
          expansion.expandOne(list.substring(start, at).strip());
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
    return List.copyOf(expansion.hosts);
  }

  /// Splits the name first, so that the size of the result is checked before the names are
  /// generated.
  private void expandOne(String name) {
    var parts = new ArrayList<List<String>>();
    int at = 0;
    for (int open = name.indexOf('['); open >= 0; open = name.indexOf('[', at)) {
      int close = name.indexOf(']', open);
      if (close < 0) {
        throw new IllegalArgumentException("a bracket is not closed");
      }
      append(parts, literal(name.substring(at, open)));
      append(parts, numbers(name.substring(open + 1, close)));
      at = close + 1;
    }
    append(parts, literal(name.substring(at)));
    long count = 1;
    int length = 0;
    for (List<String> part : parts) {
      count = Math.min(count * part.size(), MOST + 1L);
      length += part.stream().mapToInt(String::length).max().orElse(0);
    }
    if (length == 0) {
      throw new IllegalArgumentException("a host's name is empty");
    }
    if (length > LONGEST_NAME) {
      throw new IllegalArgumentException("a name is longer than " + LONGEST_NAME + " characters");
    }
    if (hosts.size() + count > MOST) {
      throw new IllegalArgumentException("more than " + MOST + " hosts");
    }
    characters += count * length;
    if (characters > MOST_CHARACTERS) {
      throw new IllegalArgumentException(
          "the names have more than " + MOST_CHARACTERS + " characters in all");
    }
    multiply(parts, 0, new StringBuilder());
  }

  /// Appends a part. Adjacent literal texts are merged.
  private static void append(List<List<String>> parts, List<String> part) {
    if (part.size() == 1 && !parts.isEmpty() && parts.getLast().size() == 1) {
      parts.add(List.of(parts.removeLast().getFirst() + part.getFirst()));
    } else {
      parts.add(part);
    }
  }

  private static List<String> literal(String text) {
    if (text.indexOf(']') >= 0) {
      throw new IllegalArgumentException("a host's name has a stray bracket");
    }
    return List.of(text);
  }

  /// Returns the numbers of a comma-separated list of numbers and ranges.
  private static List<String> numbers(String list) {
    var numbers = new ArrayList<String>();
    for (String range : list.split(",", -1)) {
      if (!RANGE.matcher(range).matches()) {
        throw new IllegalArgumentException("'" + range + "' is not a number or range");
      }
      int dash = range.indexOf('-');
      String first = dash < 0 ? range : range.substring(0, dash);
      int from = Integer.parseInt(first);
      int last = Integer.parseInt(dash < 0 ? range : range.substring(dash + 1));
      if (last < from) {
        throw new IllegalArgumentException("range '" + range + "' runs backwards");
      }
      if (numbers.size() + (last - from) >= MOST) {
        throw new IllegalArgumentException("more than " + MOST + " hosts");
      }
      for (int number = from; number <= last; number++) {
        String digits = Integer.toString(number);
        numbers.add("0".repeat(Math.max(0, first.length() - digits.length())) + digits);
      }
    }
    return numbers;
  }

  /// Generates every combination of one text of each part from `index` on, after `prefix`.
  private void multiply(List<List<String>> parts, int index, StringBuilder prefix) {
    if (index == parts.size()) {
      hosts.add(prefix.toString());
      return;
    }
    int length = prefix.length();
    for (String text : parts.get(index)) {
      multiply(parts, index + 1, prefix.append(text));
      prefix.setLength(length);
    }
  }
}
