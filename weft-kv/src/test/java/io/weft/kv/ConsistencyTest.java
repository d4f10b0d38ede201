// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks which pushes of other workers a worker pulls.
@Timeout(120)
class ConsistencyTest {

  private static final long[] KEYS = {1, 2, 3};

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void afterEachSynchronousRoundAllWorkersPullTheSameSum(String transport) {
    try (KvJob job = new KvJob(transport, 4, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 1));
            float own = weft.rank();
            float[] pulled = new float[3];
            for (int round = 1; round <= 30; round++) {
              table.push(KEYS, new float[] {own, 2 * own, 3 * own}).await();
              table.pull(KEYS, pulled).await();
              float sum = round * (1 + 2 + 3);
              assertThat(pulled).containsExactly(sum, 2 * sum, 3 * sum);
            }
          });
    }
  }

  @Test
  void aSynchronousWorkerThatIsFarAheadWaitsAndLosesNothing() {
    try (KvJob job = new KvJob("inproc", 3, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 1));
            List<Handle<Void>> pushes = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
              Handle<Void> push = table.push(KEYS, new float[] {1, 1, 1});
              pushes.add(push);
              if (weft.rank() == 2) {
                push.await();
              }
            }
            for (Handle<Void> each : pushes) {
              each.await();
            }
            float[] pulled = new float[3];
            table.pull(KEYS, pulled).await();
            assertThat(pulled).containsOnly(40);
          });
    }
  }

  @Test
  void aBoundedWorkerWaitsForTheSlowestAndNoLonger() {
    var spec = TableSpec.rows("t", 1).with(Consistency.bounded(2));
    try (KvJob job = new KvJob("inproc", 3, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(spec);
            float[] pulled = new float[3];
            if (weft.rank() == 1) {
              table.push(KEYS, new float[] {1, 1, 1}).await();
              store.clock();
              store.clock();
              table.pull(KEYS, pulled).await();
              assertThat(pulled[0]).isEqualTo(1);
              store.clock();
              Handle<Void> waits = table.pull(KEYS, pulled);
              assertThatThrownBy(() -> waits.await(Duration.ofMillis(100)))
                  .isInstanceOf(CommException.TimedOut.class);
              store.barrier();
              waits.await();
              assertThat(pulled[0]).isEqualTo(11);
            } else {
              store.barrier();
              table.push(KEYS, new float[] {10, 10, 10}).await();
              store.clock();
            }
          });
    }
  }

  @Test
  void noWorkerWaitsForOneThatHasLeft() {
    try (KvJob job = new KvJob("tcp", 3, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 1));
            if (weft.rank() == 2) {
              weft.close();
              return;
            }
            table.push(KEYS, new float[] {1, 2, 3}).await();
            float[] pulled = new float[3];
            table.pull(KEYS, pulled).await();
            assertThat(pulled).containsExactly(1, 2, 3);
          });
    }
  }
}
