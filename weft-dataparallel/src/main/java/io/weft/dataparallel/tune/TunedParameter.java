// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.tune;

import java.util.List;

/// A size that a search may change.
///
/// @param name name of the setting
/// @param values candidate values, ascending; the ratio of neighbours is about the smallest
///   significant one
/// @param start index of the value with which a search begins
public record TunedParameter(String name, List<Long> values, int start) {

  /// Copies the list. Throws `IllegalArgumentException` for an index outside the list.
  public TunedParameter {
    values = List.copyOf(values);
    if (start < 0 || start >= values.size()) {
      throw new IllegalArgumentException(
          "parameter " + name + " begins at " + start + " of " + values.size() + " values");
    }
  }

  /// Returns a parameter of these values that begins with the value nearest to `current`.
  public static TunedParameter from(String name, List<Long> values, long current) {
    int nearest = 0;
    for (int i = 1; i < values.size(); i++) {
      if (distance(values.get(i), current) < distance(values.get(nearest), current)) {
        nearest = i;
      }
    }
    return new TunedParameter(name, values, nearest);
  }

  /// Returns a parameter with this single value.
  public static TunedParameter fixed(String name, long value) {
    return new TunedParameter(name, List.of(value), 0);
  }

  /// Returns the difference of the values' natural logarithms.
  private static double distance(long one, long other) {
    return Math.abs(Math.log((double) Math.max(1, one)) - Math.log((double) Math.max(1, other)));
  }
}
