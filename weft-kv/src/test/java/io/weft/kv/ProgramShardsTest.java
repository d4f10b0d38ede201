// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.kv.spec.TableSpec;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks a server whose duty cycles the program runs.
@Timeout(120)
class ProgramShardsTest {

  private static final long[] KEYS = {3, 1, 2};

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void aServerWithoutThreadsServesUntilTheWorkersHaveLeft(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      job.run(
          weft -> {
            KvNode kv = KvNode.open(weft, KvOptions.servers(1), KvServer.RunBy.PROGRAM);
            if (kv.server().isPresent()) {
              try (KvServer server = kv.server().get()) {
                assertThat(server.join(Duration.ofMillis(1))).isFalse();
                assertThat(server.join(Duration.ofMinutes(1))).isTrue();
                assertThat(server.hasWorkers()).isFalse();
              }
              assertThat(Thread.getAllStackTraces().keySet())
                  .noneMatch(it -> it.getName().startsWith("weft-shards-0-"));
              return true;
            }
            KvTable table = kv.worker().register(TableSpec.rows("t", 1));
            float[] pulled = new float[3];
            for (int round = 1; round <= 20; round++) {
              table.push(KEYS, new float[] {1, 2, 3}).await();
              table.pull(KEYS, pulled).await();
              assertThat(pulled).containsExactly(2 * round, 4 * round, 6 * round);
            }
            weft.close();
            return true;
          });
    }
  }

  @Test
  void aServerWithItsOwnThreadsRefusesADutyCycleOfTheProgram() {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      KvServer server = job.member(0).server().orElseThrow();
      assertThatThrownBy(() -> server.work(Duration.ZERO))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("rank 0 has its own threads");
    }
  }
}
