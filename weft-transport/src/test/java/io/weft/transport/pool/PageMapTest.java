// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PageMapTest {

  private static final int PAGES = 97;

  @Test
  void aWholeBlockIsOneRun() {
    PageMap map = new PageMap(PAGES);
    assertThat(map.take(PAGES + 1)).isEqualTo(-1);
    assertThat(map.take(PAGES)).isZero();
    assertThat(map.take(1)).isEqualTo(-1);
    map.give(0, PAGES);
    assertThat(map.isFree()).isTrue();
  }

  @Test
  void theFirstSufficientRunIsTaken() {
    PageMap map = new PageMap(PAGES);
    assertThat(map.take(10)).isZero();
    assertThat(map.take(10)).isEqualTo(10);
    assertThat(map.take(10)).isEqualTo(20);
    map.give(10, 10);
    assertThat(map.take(11)).isEqualTo(30);
    assertThat(map.take(4)).isEqualTo(10);
    assertThat(map.take(6)).isEqualTo(14);
  }

  @Test
  void randomRunsNeverOverlapAndAllAreReturned() {
    long seed = Long.getLong("weft.test.seed", 20_261_122L);
    Random random = new Random(seed);
    PageMap map = new PageMap(PAGES);
    boolean[] taken = new boolean[PAGES];
    List<int[]> out = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      if (random.nextBoolean() || out.isEmpty()) {
        int count = 1 + random.nextInt(20);
        int page = map.take(count);
        assertThat(page).as("seed %d, step %d", seed, i).isEqualTo(firstRun(taken, count));
        if (page >= 0) {
          Arrays.fill(taken, page, page + count, true);
          out.add(new int[] {page, count});
        }
      } else {
        int[] run = out.remove(random.nextInt(out.size()));
        Arrays.fill(taken, run[0], run[0] + run[1], false);
        map.give(run[0], run[1]);
      }
    }
    out.forEach(run -> map.give(run[0], run[1]));
    assertThat(map.isFree()).isTrue();
  }

  private static int firstRun(boolean[] taken, int count) {
    int free = 0;
    for (int page = 0; page < taken.length; page++) {
      free = taken[page] ? 0 : free + 1;
      if (free == count) {
        return page - count + 1;
      }
    }
    return -1;
  }
}
