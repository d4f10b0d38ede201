// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.TableSpec;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that tables that may spill rows are refused where no disk store can keep them.
@Timeout(60)
class SpillRefusalTest {

  private static final TableSpec SPILLED =
      TableSpec.rows("users", 2).with(Retention.ALL.spilledBeyond(1 << 20));

  @TempDir Path directory;

  @Test
  void aTableWithoutSpillDirectoryIsRefusedAndTheServerContinues() {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            assertThatThrownBy(() -> store.register(SPILLED))
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("rank 0 has no kv-spill-directory; set it");
            store.register(TableSpec.rows("users", 2)).push(new long[] {1}, new float[2]).await();
          });
    }
  }

  @Test
  void theMessageNamesTheMissingSpillModule() {
    try (KvJob job =
        new KvJob(
            "inproc",
            2,
            KvOptions.servers(1),
            it -> it.set(KvConfig.SPILL_DIRECTORY, directory.toString()))) {
      job.onWorkers(
          (store, weft) ->
              assertThatThrownBy(() -> store.register(SPILLED))
                  .hasMessageContaining("add io.weft:weft-kv-rocksdb to the class path"));
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void lessMemoryThanATableNeedsIsRefused() {
    assertThatThrownBy(() -> Retention.ALL.spilledBeyond(1000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rows in 1000 bytes of memory; at least 65536");
  }
}
