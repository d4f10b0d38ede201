// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import io.weft.SecureMode;
import java.time.Duration;
import java.util.stream.Stream;

/// Small plans for tests.
final class Plans {

  private Plans() {}

  /// Over TCP without encryption, with cases written `BYTES:ITERATIONS`.
  static Plan of(Benchmark benchmark, int ranks, String... cases) {
    return new Plan(
        benchmark,
        "tcp",
        SecureMode.AUTO,
        ranks,
        Stream.of(cases)
            .map(c -> c.split(":"))
            .map(c -> new Plan.Case(Long.parseLong(c[0]), Integer.parseInt(c[1])))
            .toList(),
        Duration.ofMillis(1),
        Duration.ofSeconds(60));
  }
}
