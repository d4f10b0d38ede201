// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.perf.Rounds.RoundContestant;
import io.weft.perf.process.SearchPath;
import io.weft.perf.report.Figure;
import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import io.weft.workloads.report.MeasuredHost;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Checks real ranks of several contestants that take turns.
@Tag("long")
final class TurnsTest {

  private static final MeasuredHost HOST =
      new MeasuredHost("a CPU", 2, 1L << 34, "Linux 6", "25", 0.5);

  @TempDir private static Path cache;

  @Test
  @Needs(OptionalProgram.GCC)
  void ranksInJavaAndCTakeTurnsForEachSize() throws InterruptedException {
    SearchPath path = SearchPath.ofEnvironment();
    MeasuringPlan plan = Plans.of(Benchmark.ALLREDUCE, 2, "8:12", "10240:3", "4194304:5");
    List<RoundContestant> contestants =
        List.of(
            new RoundContestant("weft", new WeftPeer().prepare(plan)),
            new RoundContestant("c", CompiledPeer.plainC(path, cache).prepare(plan)),
            new RoundContestant("memcpy", CompiledPeer.memcpy(path, cache).prepare(plan)));
    int[] asked = {0};
    Rounds.Meter meter = () -> ++asked[0];
    List<Figure> measured =
        new Rounds(plan, 1, null, meter, Duration.ofSeconds(1), line -> {}).run(contestants, HOST);
    assertThat(measured).hasSize(9).allMatch(m -> m.value("checked").equals(true));
    assertThat(measured.get(3).text("peer")).isEqualTo("c sockets");
    assertThat(asked[0]).as("a first pass, then 5, 3 and 5 parts").isEqualTo(1 + 5 + 3 + 5);
    assertThat(measured).allMatch(m -> m.value("roundHandoverNanos").equals(List.of(8)));
  }
}
