// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that all workers of a host learn of a failure that the servers report to one of them.
@Timeout(30)
class KVStoreFailureTest {

  private static final int WIDTH = 100_000;

  @Test
  void aPushThatTheServersRefuseFailsOnAllWorkersOfTheHost() {
    WeftConfig config = WeftConfig.builder().transport("inproc").set(KvConfig.MEMORY, "1M").build();
    try (LocalJob job = LocalJob.start(3, config)) {
      List<KVStore> stores =
          job.ranks().stream().map(weft -> KVStore.open(weft, KVStoreOptions.servers(1))).toList();
      job.run(
          weft -> {
            KVStore store = stores.get(weft.rank());
            if (store.server().isEmpty()) {
              store.initRows("r", WIDTH, "zero");
              store.pushRows("r", new long[] {1, 2, 3}, new float[3 * WIDTH]);
              assertThatThrownBy(store::barrier)
                  .isInstanceOf(CommException.class)
                  .hasMessageContaining("memory budget");
            }
            return true;
          });
      stores.forEach(KVStore::close);
    }
  }
}
