// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.cluster.SecureMode;
import io.weft.perf.rank.RankArguments.RankCase;
import java.time.Duration;
import java.util.stream.Stream;

/// Small plans for tests.
final class Plans {

  private Plans() {}

  /// Returns a plan with a few sizes of this benchmark on two ranks.
  static MeasuringPlan small(Benchmark benchmark) {
    return switch (benchmark) {
      case BARRIER -> of(benchmark, 2, "0:5");
      case MESSAGES -> of(benchmark, 2, "16:3", "64:3", "1024:2");
      default -> of(benchmark, 2, "8:5", "10240:3", "1048576:2");
    };
  }

  /// Returns the plan over shared memory, with tensors in Weft's memory.
  static MeasuringPlan shared(MeasuringPlan plan) {
    return with("shm", TensorMemory.OWN, plan);
  }

  /// Returns the plan over another transport.
  static MeasuringPlan over(String transport, MeasuringPlan plan) {
    return with(transport, plan.memory(), plan);
  }

  private static MeasuringPlan with(String transport, TensorMemory memory, MeasuringPlan plan) {
    return new MeasuringPlan(
        plan.benchmark(),
        new MeasuringPlan.Link(transport, plan.secure()),
        memory,
        plan.outstanding(),
        plan.ranks(),
        plan.cases(),
        plan.warmUp(),
        plan.limit());
  }

  /// Returns a plan over TCP without encryption, with private tensors and cases in the format
  /// `BYTES:ITERATIONS[:TENSORS]`.
  static MeasuringPlan of(Benchmark benchmark, int ranks, String... cases) {
    return new MeasuringPlan(
        benchmark,
        new MeasuringPlan.Link("tcp", SecureMode.AUTO),
        TensorMemory.PRIVATE,
        64,
        ranks,
        Stream.of(cases)
            .map(c -> c.split(":"))
            .map(
                c ->
                    new RankCase(
                        Long.parseLong(c[0]),
                        Integer.parseInt(c[1]),
                        c.length < 3 ? 1 : Integer.parseInt(c[2])))
            .toList(),
        Duration.ofMillis(1),
        Duration.ofMinutes(4)); // long enough for a busy machine
  }
}
