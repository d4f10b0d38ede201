// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.tune;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.job.LocalJob;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Checks that ranks with different step times agree on the point that is best for the slowest.
class AutotunerTest {

  private static final List<Long> POWERS =
      LongStream.rangeClosed(12, 27).map(bit -> 1L << bit).boxed().toList();
  private static final TunedParameter THRESHOLD = new TunedParameter("fusion-threshold", POWERS, 0);

  @TempDir private Path directory;

  @Test
  void ranksAgreeOnTheBestPointOfTheSlowestRank() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      List<List<Long>> found =
          job.run(
              weft -> {
                List<Long> applied = new ArrayList<>(List.of(POWERS.getFirst()));
                List<Double> micros = new ArrayList<>();
                var tuner =
                    new Autotuner(
                        weft.communicator(),
                        List.of(THRESHOLD),
                        values -> applied.set(0, values.getFirst()),
                        (sample, values, time) -> micros.add(time));
                long steps = 0;
                while (!tuner.isDone()) {
                  // Rank 0 is best with value 3, rank 1 with value 9. Both take 40 ms with 7.
                  int at = POWERS.indexOf(applied.getFirst());
                  long nanos = 20_000_000 + 5_000_000L * Math.abs(at - 3 - 6L * weft.rank());
                  tuner.stepEnded(nanos + 10_000_000L * weft.rank());
                  assertThat(++steps).isLessThan(5000);
                }
                assertThat(applied).isEqualTo(tuner.values());
                assertThat(micros.getFirst()).isEqualTo(75_000);
                return tuner.values();
              });
      assertThat(found).containsExactly(List.of(POWERS.get(7)), List.of(POWERS.get(7)));
    }
  }

  @Test
  void storedValuesAreFoundOnlyForTheSameParameters() throws IOException {
    var store = new TuningStore(directory.resolve("tuning"));
    var more = TunedParameter.fixed("segment-bytes", 0);
    assertThat(store.find("a1", List.of(THRESHOLD))).isEmpty();
    store.keep("a1", List.of(THRESHOLD), List.of(1L << 20));
    assertThat(store.find("a1", List.of(THRESHOLD))).contains(List.of(1L << 20));
    assertThat(store.find("a2", List.of(THRESHOLD))).isEmpty();
    assertThat(store.find("a1", List.of(THRESHOLD, more))).isEmpty();
    Files.writeString(directory.resolve("tuning/a3.properties"), "fusion-threshold=17\n");
    assertThat(store.find("a3", List.of(THRESHOLD))).isEmpty();
    Files.writeString(directory.resolve("tuning/a4.properties"), "fusion-threshold=many\n");
    assertThat(store.find("a4", List.of(THRESHOLD))).isEmpty();
  }

  @Test
  void theFingerprintDistinguishesWorkAndIsEqualOnAllRanks() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      List<List<String>> all =
          job.run(
              weft ->
                  List.of(
                      TuningStore.fingerprint(weft, "200 tensors"),
                      TuningStore.fingerprint(weft, "314 tensors")));
      assertThat(all.get(0)).isEqualTo(all.get(1)).doesNotHaveDuplicates();
      assertThat(all.get(0)).allMatch(print -> print.matches("[0-9a-f]{16}"));
    }
  }
}
