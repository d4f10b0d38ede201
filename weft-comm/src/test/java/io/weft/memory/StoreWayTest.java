// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.copy.TensorCopier;
import org.junit.jupiter.api.Test;

final class StoreWayTest {

  private static final long BYTES = 1 << 20;

  /// Nothing is copied here.
  private static final TensorCopier STREAMING = (from, fromAt, to, toAt, bytes) -> {};

  private long now;
  private final StoreWay way = new StoreWay(() -> now, STREAMING);

  /// Runs operations that take so many nanoseconds either way; returns how many of them went past
  /// the caches.
  private int run(int operations, long ownCache, long pastCaches) {
    int past = 0;
    for (int i = 0; i < operations; i++) {
      past += one(ownCache, pastCaches) ? 1 : 0;
    }
    return past;
  }

  private boolean one(long ownCache, long pastCaches) {
    TensorCopier by = way.pastCaches(BYTES);
    long begin = way.nanos();
    now += by == null ? ownCache : pastCaches;
    way.took(by, BYTES, BYTES / 2, begin);
    return by != null;
  }

  @Test
  void eitherWayIsTriedFirst() {
    assertThat(one(100, 100)).isFalse();
    assertThat(one(100, 100)).isTrue();
  }

  @Test
  void theFasterWayIsTaken() {
    run(2, 500_000, 80_000);
    assertThat(run(1000, 500_000, 80_000)).isBetween(980, 999);
  }

  @Test
  void whatIsHardlyFasterIsNotWorthIt() {
    run(2, 90_000, 80_000);
    assertThat(run(1000, 90_000, 80_000)).isBetween(1, 20);
  }

  @Test
  void processorsThatAreMovedApartAreNoticedSoonAndWhenTheyAreBack() {
    run(200, 35_000, 80_000);
    assertThat(run(100, 500_000, 80_000)).as("apart").isGreaterThan(80);
    assertThat(run(260, 35_000, 80_000)).as("near again").isLessThan(140);
    assertThat(run(1000, 35_000, 80_000)).isLessThan(20);
  }

  @Test
  void oneInterruptedOperationChangesNothing() {
    run(200, 35_000, 80_000);
    one(10_000_000, 10_000_000);
    assertThat(run(100, 35_000, 80_000)).isLessThan(3);
  }

  @Test
  void lengthsLearnApart() {
    run(200, 500_000, 80_000);
    assertThat(way.pastCaches(BYTES / 4)).as("not known yet").isNull();
    assertThat(way.pastCaches(BYTES)).isSameAs(STREAMING);
  }

  @Test
  void whereThereIsNoWayPastTheCachesNothingIsLearnt() {
    var only = new StoreWay(() -> now, null);
    for (int i = 0; i < 3; i++) {
      assertThat(only.pastCaches(BYTES)).isNull();
      only.took(null, BYTES, BYTES, only.nanos());
    }
  }
}
