// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.kv.spec.TableSpec;
import io.weft.testkit.job.LocalJob;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks that one line separates the program of a server from the program of a worker.
@Timeout(120)
class ServeTest {

  @ParameterizedTest
  @EnumSource(KvServer.RunBy.class)
  void aServerServesUntilItsWorkersHaveLeftAndAWorkerContinues(KvServer.RunBy runBy) {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      job.run(
          weft -> {
            try (KvNode kv = KvNode.open(weft, KvOptions.servers(1), runBy)) {
              if (kv.serve()) {
                assertThat(weft.rank()).isZero();
                assertThat(kv.server().orElseThrow().hasWorkers()).isFalse();
                return true;
              }
              assertThat(weft.rank()).isPositive();
              pushAndPull(kv, weft.rank());
            }
            weft.close();
            return true;
          });
    }
  }

  @Test
  void aRankThatIsServerAndWorkerContinues() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            try (KvNode kv = KvNode.open(weft, KvOptions.everyRank())) {
              assertThat(kv.serve()).isFalse();
              pushAndPull(kv, weft.rank());
              kv.worker().barrier();
            }
            return true;
          });
    }
  }

  @Test
  void aServerOfAKvStoreServesUntilItsWorkersHaveLeft() {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      job.run(
          weft -> {
            try (KVStore kv = KVStore.open(weft, KVStoreOptions.servers(1))) {
              if (kv.serve()) {
                assertThat(weft.rank()).isZero();
                return true;
              }
              kv.barrier();
            }
            weft.close();
            return true;
          });
    }
  }

  private static void pushAndPull(KvNode kv, long key) throws InterruptedException {
    KvTable table = kv.worker().register(TableSpec.rows("t", 1));
    float[] pulled = new float[1];
    table.push(new long[] {key}, new float[] {2}).await();
    table.pull(new long[] {key}, pulled).await();
    assertThat(pulled[0]).isEqualTo(2);
  }
}
