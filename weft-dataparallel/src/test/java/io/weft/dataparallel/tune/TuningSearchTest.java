// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.tune;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.weft.property.Property;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/// Checks that the search ends, measures no point twice, and finds the minimum of a valley.
class TuningSearchTest {

  private static final List<Long> POWERS =
      LongStream.rangeClosed(10, 27).map(bit -> 1L << bit).boxed().toList();

  private static int run(TuningSearch search, ToDoubleFunction<List<Long>> time) {
    Set<List<Long>> seen = new HashSet<>();
    for (Optional<List<Long>> next = search.proposal();
        next.isPresent();
        next = search.proposal()) {
      assertThat(seen.add(next.get())).as("again %s", next.get()).isTrue();
      search.measured(time.applyAsDouble(next.get()));
    }
    return seen.size();
  }

  @Test
  void valleyOfTwoParametersIsFoundFromAnywhere() {
    Property.check(
        200,
        draw ->
            valleyOfTwoParametersIsFoundFromAnywhere(
                draw.between(0, 17),
                draw.between(0, 17),
                draw.between(0, 17),
                draw.between(0, 17)));
  }

  private void valleyOfTwoParametersIsFoundFromAnywhere(
      int begin, int beginOther, int valley, int valleyOther) {
    var search =
        new TuningSearch(
            List.of(
                new TunedParameter("fusion-threshold", POWERS, begin),
                new TunedParameter("segment-bytes", POWERS, beginOther)));
    int points =
        run(
            search,
            values ->
                10
                    + Math.abs(POWERS.indexOf(values.get(0)) - valley)
                    + 0.5 * Math.abs(POWERS.indexOf(values.get(1)) - valleyOther));
    assertThat(search.best()).containsExactly(POWERS.get(valley), POWERS.get(valleyOther));
    assertThat(points).isLessThan(80);
  }

  @Test
  void aFixedParameterIsNotChanged() {
    var search =
        new TuningSearch(
            List.of(
                TunedParameter.fixed("segment-bytes", 4096),
                TunedParameter.from("fusion-threshold", POWERS, 3 << 20)));
    run(search, values -> 1.0 / values.get(1));
    assertThat(search.best()).containsExactly(4096L, 1L << 27);
  }

  @Test
  void noiseBelowTwoPercentDoesNotMoveTheBestPoint() {
    var search = new TuningSearch(List.of(new TunedParameter("fusion-threshold", POWERS, 9)));
    int[] calls = {0};
    run(search, values -> 100 - 0.1 * calls[0]++);
    assertThat(search.best()).containsExactly(POWERS.get(9));
    assertThat(search.bestTime()).isEqualTo(100);
    assertThatIllegalStateException().isThrownBy(() -> search.measured(1));
  }

  @Test
  void theSearchBeginsAtTheBestOfTheGivenPoints() {
    // The times rise from the start on, and the valley is at 15.
    ToDoubleFunction<List<Long>> time =
        values -> {
          int at = POWERS.indexOf(values.getFirst());
          return at < 8 ? 30 + at : 10 + Math.abs(at - 15);
        };
    var parameter = new TunedParameter("fusion-threshold", POWERS, 0);
    var search = new TuningSearch(List.of(parameter), List.of(List.of(1L << 22), List.of(99L)));
    assertThat(search.proposal()).contains(List.of(POWERS.getFirst()));
    search.measured(30);
    assertThat(search.proposal()).contains(List.of(1L << 22));
    run(search, time);
    assertThat(search.best()).containsExactly(POWERS.get(15));
    assertThat(search.leaders(3))
        .containsExactly(List.of(POWERS.get(15)), List.of(POWERS.get(14)), List.of(POWERS.get(16)));
  }

  @Test
  void anEndedSearchKeepsTheBestSoFar() {
    var search = new TuningSearch(List.of(new TunedParameter("fusion-threshold", POWERS, 9)));
    search.measured(5);
    search.end();
    assertThat(search.proposal()).isEmpty();
    assertThat(search.best()).containsExactly(POWERS.get(9));
  }

  @Test
  void searchBeginsAtTheNearestValue() {
    assertThat(TunedParameter.from("x", POWERS, 3000).start()).isEqualTo(2);
    assertThat(TunedParameter.from("x", POWERS, 0).start()).isZero();
  }
}
