// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.table;

import java.util.Arrays;
import java.util.Objects;

/// Copy-on-write arrays, which callbacks may replace during an iteration.
public final class EndpointArrays {

  private EndpointArrays() {}

  /// Returns a copy that ends with `more`.
  public static <E> E[] with(E[] some, E more) {
    Objects.requireNonNull(more);
    E[] all = Arrays.copyOf(some, some.length + 1);
    all[some.length] = more;
    return all;
  }

  /// Returns a copy without the elements that equal `less`.
  public static <E> E[] without(E[] some, E less) {
    Objects.requireNonNull(less);
    return Arrays.stream(some)
        .filter(one -> !one.equals(less))
        .toArray(length -> Arrays.copyOf(some, length));
  }
}
