// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.comm.Handle;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that the credits of a connection block no worker for ever.
@Timeout(60)
class CreditsTest {

  private static final int ELEMENTS = 20_000;

  private static MemorySegment floats(float value) {
    MemorySegment all = Arena.ofAuto().allocate(ValueLayout.JAVA_FLOAT, ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++) {
      all.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
    }
    return all;
  }

  /// Each worker first requests the tensor whose pushes the other worker sends last.
  @Test
  void workersThatPushInDifferentOrdersDoNotWaitForEachOther() {
    try (KvJob job =
        new KvJob(
            "tcp",
            3,
            KvOptions.servers(1),
            it -> it.set(KvConfig.PARTITION, "8K").set(KvConfig.IN_FLIGHT, "8K"))) {
      job.onWorkers(
          (store, weft) -> {
            List<KvTensor> tensors = new ArrayList<>();
            for (String name : List.of("one", "other")) {
              tensors.add(
                  store.registerTensor(TableSpec.tensor(name, ELEMENTS).withRule("sgd:lr=1")));
            }
            KvTensor early = tensors.get(weft.rank() - 1);
            KvTensor late = tensors.get(2 - weft.rank());
            MemorySegment first = floats(Float.NaN);
            MemorySegment second = floats(Float.NaN);
            early.push(floats(1)).await();
            Handle<Void> pulled = early.pull(first);
            store.barrier();
            late.push(floats(1), 1).await();
            late.pull(second, 1).await();
            pulled.await();
            assertThat(first.toArray(ValueLayout.JAVA_FLOAT)).containsOnly(-2);
            assertThat(second.toArray(ValueLayout.JAVA_FLOAT)).containsOnly(-2);
            store.barrier();
          });
    }
  }
}
