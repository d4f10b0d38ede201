// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.tune;

import java.util.List;

/// One size that a search may change.
///
/// @param name as the setting has it
/// @param values that are tried, ascending; neighbours differ by about as much as matters
/// @param start index of the value with which a search begins
public record TunedParameter(String name, List<Long> values, int start) {

  /// Copies the list. Throws `IllegalArgumentException` for an index that it does not have.
  public TunedParameter {
    values = List.copyOf(values);
    if (start < 0 || start >= values.size()) {
      throw new IllegalArgumentException(
          "parameter " + name + " begins at " + start + " of " + values.size() + " values");
    }
  }

  /// The values, beginning at the one that is nearest to `current`.
  public static TunedParameter from(String name, List<Long> values, long current) {
    int nearest = 0;
    for (int i = 1; i < values.size(); i++) {
      if (distance(values.get(i), current) < distance(values.get(nearest), current)) {
        nearest = i;
      }
    }
    return new TunedParameter(name, values, nearest);
  }

  /// The value alone, which is not to be changed.
  public static TunedParameter fixed(String name, long value) {
    return new TunedParameter(name, List.of(value), 0);
  }

  /// By how many doublings two values differ.
  private static double distance(long one, long other) {
    return Math.abs(Math.log((double) Math.max(1, one)) - Math.log((double) Math.max(1, other)));
  }
}
