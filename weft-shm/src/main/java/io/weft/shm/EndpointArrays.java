// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.util.Arrays;

/// Copy-on-write arrays, which callbacks may replace during an iteration.
final class EndpointArrays {

  private EndpointArrays() {}

  static ShmEndpoint[] with(ShmEndpoint[] some, ShmEndpoint more) {
    ShmEndpoint[] all = Arrays.copyOf(some, some.length + 1);
    all[some.length] = more;
    return all;
  }

  static ShmEndpoint[] without(ShmEndpoint[] some, ShmEndpoint less) {
    return Arrays.stream(some).filter(one -> !one.equals(less)).toArray(ShmEndpoint[]::new);
  }
}
