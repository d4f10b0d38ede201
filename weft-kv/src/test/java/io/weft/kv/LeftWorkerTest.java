// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that tables and parts that are first used after a worker has left do not wait for it.
@Timeout(45)
class LeftWorkerTest {

  @Test
  void laterTablesAndPartsDoNotWaitForAWorkerThatHasLeft() throws Exception {
    try (KvJob job = new KvJob("tcp", 3, KvOptions.servers(1))) {
      KvWorker worker = job.member(1).worker();
      KvTensor tensor = worker.registerTensor(TableSpec.tensor("w", 3000).with(Slicer.parts(1024)));
      KvTable before = worker.register(TableSpec.rows("t", 1));
      job.job().ranks().get(2).close();
      before.push(new long[] {1}, new float[] {1}).await();
      before.pull(new long[] {1}, new float[1]).await(); // now the server knows that it has left
      float[] ones = new float[3000];
      Arrays.fill(ones, 1);
      tensor.push(MemorySegment.ofArray(ones)).await();
      float[] pulled = new float[3000];
      tensor.pull(MemorySegment.ofArray(pulled)).await();
      assertThat(pulled).containsOnly(1);
      KvTable bounded = worker.register(TableSpec.rows("b", 1).with(Consistency.bounded(1)));
      bounded.clock().await();
      bounded.clock().await();
      bounded.pull(new long[] {1}, new float[1]).await();
    }
  }
}
