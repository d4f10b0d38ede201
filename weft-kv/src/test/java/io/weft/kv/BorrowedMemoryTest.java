// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.key.KeyList;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks the memory that workers pass for reads and writes, and key lists of other tables.
@Timeout(60)
class BorrowedMemoryTest {

  private static final int KEYS = 200;

  private static KvJob job() {
    return new KvJob("tcp", 1, KvOptions.everyRank(), it -> it.set(KvConfig.SHARDS, "4"));
  }

  private static long[] keys() {
    long[] keys = new long[KEYS];
    for (int i = 0; i < KEYS; i++) {
      keys[i] = KEYS - i;
    }
    return keys;
  }

  @Test
  void memoryThatOtherThreadsCannotUseIsRefused() throws Exception {
    try (KvJob job = job();
        Arena confined = Arena.ofConfined()) {
      KvWorker worker = job.member(0).worker();
      KvTable rows = worker.register(TableSpec.rows("rows", 1).with(Consistency.asynchronous()));
      KvTensor tensor =
          worker.registerTensor(TableSpec.tensor("tensor", KEYS).with(Consistency.asynchronous()));
      KvValues values =
          worker.registerValues(TableSpec.values("values", 4).with(Consistency.asynchronous()));
      int[] lengths = new int[KEYS];
      Arrays.fill(lengths, 1);
      MemorySegment own = confined.allocate(4L * KEYS);
      MemorySegment fixed = MemorySegment.ofArray(new float[KEYS]).asReadOnly();
      KeyList list = rows.keys(keys());
      assertThatIllegalArgumentException()
          .isThrownBy(() -> rows.pull(list, fixed))
          .withMessageContaining("'rows': the place of 800 bytes is read-only");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> rows.pull(list, own))
          .withMessageContaining("confined to one thread");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> tensor.pull(fixed))
          .withMessageContaining("'tensor'");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> values.pull(keys(), lengths, fixed))
          .withMessageContaining("'values'");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> rows.push(list, own))
          .withMessageContaining("the values of 800 bytes lies in an arena that is confined");
    }
  }

  @Test
  void closingTheDestinationDuringAPullFailsTheHandle() throws Exception {
    try (KvJob job = new KvJob("tcp", 2, KvOptions.servers(1))) {
      KvTable table =
          job.member(1).worker().register(TableSpec.rows("t", 1).with(Consistency.bounded(1)));
      for (int i = 0; i < 50; i++) {
        Arena arena = Arena.ofShared();
        Handle<Void> pulled = table.pull(table.keys(keys()), arena.allocate(4L * KEYS));
        boolean early = !pulled.isDone();
        arena.close();
        try {
          var unused = pulled.await();
        } catch (CommException.Broken broken) {
          assertThat(early).isTrue();
          assertThat(broken).hasMessageContaining("'t'").hasMessageContaining("closed");
        }
      }
      float[] again = new float[KEYS];
      table.pull(keys(), again).await();
    }
  }

  @Test
  void aListOfKeysOfAnotherTableIsRefused() throws Exception {
    try (KvJob job = job()) {
      KvWorker worker = job.member(0).worker();
      KvTable hashed = worker.register(TableSpec.rows("hashed", 1));
      KvTable ranged = worker.register(TableSpec.rows("ranged", 1).with(Slicer.ranges(0, 1000)));
      assertThatIllegalArgumentException()
          .isThrownBy(
              () -> ranged.push(hashed.keys(keys()), MemorySegment.ofArray(new float[KEYS])))
          .withMessageContaining("table 'ranged': a list of keys of table 'hashed'");
    }
  }

  @Test
  void slicersThatDoNotFitAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TableSpec.tensor("w", 9).with(Slicer.ranges(0, 9)))
        .withMessageContaining("Slicer.parts");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TableSpec.rows("r", 9).with(Slicer.parts(1024)))
        .withMessageContaining("hash");
    assertThatThrownBy(() -> TableSpec.rows("a\u001b[2J", 9))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'a?[2J'");
  }
}
