// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.perf.kv.KvPlan.Op;
import io.weft.perf.kv.KvPlan.Subject;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KvTrafficTest {

  @Test
  void aPlanIsParsedFromItsWords() {
    for (Subject subject :
        List.of(
            new Subject.Pairs(7, 3),
            new Subject.Tensor(99),
            new Subject.Rows(8, 2, 100, 1.05, 1 << 20))) {
      var plan = new KvPlan(Op.PULL, subject, 2, 3, 4, 2, 50);
      assertThat(KvPlan.parse(plan.words())).isEqualTo(plan);
    }
    assertThatThrownBy(() -> KvPlan.parse(List.of("push"))).hasMessageContaining("1 words");
  }

  @Test
  void keysOfPairsAscendAndAreTheSameInEachRequest() {
    var traffic = new KvTraffic(plan(Op.PUSH, new Subject.Pairs(100, 1), 1), 0);
    long[] keys = traffic.keys(0);
    assertThat(keys).hasSize(100).isSorted().doesNotHaveDuplicates();
    assertThat(traffic.keys(5)).isEqualTo(keys);
    assertThat(traffic.lastKey()).isEqualTo(keys[99]);
  }

  @Test
  void pushesOfRowsIncludeAllWorkersAndTheInitialLoad() {
    KvPlan plan = plan(Op.UPDATE, new Subject.Rows(16, 2, 50, 1.05, 0), 2);
    int requests = 300;
    Map<Long, Integer> counts = new HashMap<>();
    for (int row = 0; row < 50; row++) {
      counts.put(KvTraffic.key(row), 1);
    }
    for (int worker = 0; worker < 2; worker++) {
      var traffic = new KvTraffic(plan, worker);
      for (int request = 0; request < requests; request++) {
        for (long key : traffic.keys(request)) {
          counts.merge(key, 1, Integer::sum);
        }
      }
    }
    int[] pushes = KvTraffic.pushesOfRows(plan, requests);
    assertThat(Arrays.stream(pushes).sum()).isEqualTo(2 * requests * 16 + 50);
    for (int row = 0; row < 50; row++) {
      assertThat(pushes[row]).isEqualTo(counts.get(KvTraffic.key(row)));
    }
    assertThat(KvTraffic.pushesOfRows(plan(Op.LOOKUP, plan.subject(), 2), requests))
        .containsOnly(1);
  }

  private static KvPlan plan(Op op, Subject subject, int workers) {
    return new KvPlan(op, subject, 1, workers, 1, 1, 10);
  }
}
