// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that wrong requests are refused with a reason and that the server continues.
@Timeout(120)
class RefusalTest {

  private static final TableSpec SPEC =
      TableSpec.rows("t", 1).with(Consistency.asynchronous()).with(TableSpec.Checks.FINITE);

  private static KvHead push(long number, KvHead.Keys keys, int count) {
    return new KvHead(
        KvOp.PUSH,
        new KvHead.Target(0, SPEC.id()),
        new KvHead.Progress(number, 1, 0),
        new KvHead.Listed(keys, count, 0, 0));
  }

  private static byte[] pairs(long[] keys, float... values) {
    byte[] bytes = new byte[8 * keys.length + 4 * values.length];
    MemorySegment to = MemorySegment.ofArray(bytes);
    for (int i = 0; i < keys.length; i++) {
      to.set(JAVA_LONG_UNALIGNED, 8L * i, keys[i]);
    }
    MemorySegment.copy(MemorySegment.ofArray(values), 0, to, 8L * keys.length, 4L * values.length);
    return bytes;
  }

  @Test
  void aTableThatIsRegisteredTwiceHasOneClock() {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (worker, weft) -> {
            KvTable table = worker.register(TableSpec.rows("twice", 1));
            table.push(new long[] {1}, new float[] {1}).await();
            KvTable again = worker.register(TableSpec.rows("twice", 1));
            assertThat(again).isSameAs(table);
            again.push(new long[] {1}, new float[] {1}).await();
            table.push(new long[] {1}, new float[] {1}).await();
            float[] sum = new float[1];
            again.pull(new long[] {1}, sum).await();
            assertThat(sum).containsExactly(3);
          });
    }
  }

  @Test
  void impossibleSettingsAreRefused() {
    assertThatThrownBy(() -> Consistency.bounded(0)).hasMessageContaining("synchronous()");
    assertThatThrownBy(() -> KvOptions.servers(1).withDeadline(Duration.ofSeconds(-1)))
        .hasMessageContaining("give them some time");
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (worker, weft) -> {
            TableSpec spec = TableSpec.rows("t", 1).with(Consistency.backedUpBy(1));
            assertThatThrownBy(() -> worker.register(spec))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has 1 backup workers, but the job has 1 workers");
          });
    }
  }

  @Test
  void aClockThatCannotBeAppliedEndsOnlyItsTableForAllWorkers() throws Exception {
    try (KvJob job =
        new KvJob("tcp", 3, KvOptions.servers(1), it -> it.set(KvConfig.MEMORY, "10M"))) {
      KvTable first = job.member(1).worker().register(TableSpec.rows("t", 256));
      KvTable second = job.member(2).worker().register(TableSpec.rows("t", 256));
      long[] keys = LongStream.range(0, 4096).toArray();
      float[] values = new float[256 * keys.length];
      first.push(keys, values).await(); // 4 MiB, kept and acknowledged
      Handle<Void> waits = first.pull(keys, values.clone());
      assertThatThrownBy(() -> second.push(keys, values).await())
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("clock 1 could not be applied")
          .hasMessageContaining("checkpoint");
      assertThatThrownBy(waits::await)
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("clock 1 could not be applied");
      assertThatThrownBy(() -> first.push(keys, values).await())
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("clock 1 could not be applied");
      KvTable other =
          job.member(1).worker().register(TableSpec.rows("u", 1).with(Consistency.asynchronous()));
      other.push(new long[] {1}, new float[] {1}).await();
    }
  }

  @Test
  void aPullThatTimesOutNamesTheTableAndTheMissingWorker() throws Exception {
    try (KvJob job =
        new KvJob("tcp", 3, KvOptions.servers(1).withDeadline(Duration.ofMillis(1500)))) {
      KvTable table = job.member(1).worker().register(TableSpec.rows("lonely", 1));
      table.push(new long[] {1}, new float[] {1}).await();
      assertThatThrownBy(() -> table.pull(new long[] {1}, new float[1]).await())
          .isInstanceOf(CommException.TimedOut.class)
          .hasMessageContaining("table 'lonely'")
          .hasMessageContaining("clock 1 lacks the pushes of ranks [2]");
    }
  }

  @Test
  void mirrorsOfOneServerAreRefused() {
    assertThatThrownBy(() -> new KvJob("inproc", 2, KvOptions.servers(1).withMirrors()).close())
        .hasMessageContaining("mirrors of 1 server");
  }

  @Test
  void aRepeatedPushIsAppliedOnce() throws Exception {
    try (KvJob job = new KvJob("tcp", 2, KvOptions.servers(1))) {
      KvTable table = job.member(1).worker().register(SPEC);
      byte[] pairs = pairs(new long[] {4, 9}, 1, 2);
      for (int i = 0; i < 3; i++) {
        assertThat(RawRequests.ask(job, push(1, KvHead.Keys.INLINE, 2), pairs).status())
            .isEqualTo(KvReply.Status.DONE);
      }
      float[] pulled = new float[2];
      table.pull(new long[] {4, 9}, pulled).await();
      assertThat(pulled).containsExactly(1, 2);
    }
  }

  @Test
  void wrongRequestsAreRefusedWithTheReason() throws Exception {
    try (KvJob job = new KvJob("tcp", 2, KvOptions.servers(1))) {
      KvHead pull =
          new KvHead(KvOp.PULL, new KvHead.Target(0, 77), KvHead.Progress.NONE, KvHead.Listed.NONE);
      assertThat(RawRequests.ask(job, pull, new byte[0]).text())
          .contains("unknown table", "register");
      KvTable table = job.member(1).worker().register(SPEC);
      assertThat(
              RawRequests.ask(job, push(1, KvHead.Keys.INLINE, 2), pairs(new long[] {4, 9}, 1))
                  .text())
          .contains("table 't'", "rank 1", "2 keys of 1 floats are 8 bytes of values, not 4");
      assertThat(
              RawRequests.ask(job, push(1, KvHead.Keys.INLINE, 2), pairs(new long[] {9, 4}, 1, 2))
                  .text())
          .contains("key 4 at 1 comes after 9");
      assertThat(
              RawRequests.ask(
                      job, push(1, KvHead.Keys.INLINE, 2), pairs(new long[] {4, 9}, 1, Float.NaN))
                  .text())
          .contains("value NaN of key 9, column 0, is not finite");
      assertThat(
              RawRequests.ask(job, push(1, KvHead.Keys.INLINE, 9), pairs(new long[] {9, 4})).text())
          .contains("9 keys in a payload of 16 bytes");
      assertThat(
              RawRequests.ask(job, push(1, KvHead.Keys.NAMED, 2), pairs(new long[0], 1, 2))
                  .status())
          .isEqualTo(KvReply.Status.UNKNOWN_LIST);
      KvHead elsewhere =
          new KvHead(
              KvOp.PULL, new KvHead.Target(5, SPEC.id()), KvHead.Progress.NONE, KvHead.Listed.NONE);
      assertThat(RawRequests.ask(job, elsewhere, new byte[0]).text())
          .contains("shard 5 of 1", "kv-shards");
      KvHead one =
          new KvHead(
              KvOp.PULL,
              new KvHead.Target(0, SPEC.id()),
              KvHead.Progress.NONE,
              new KvHead.Listed(KvHead.Keys.INLINE, 1, 0, 0));
      KvReply few = RawRequests.ask(job, one, pairs(new long[] {1}));
      assertThat(few.status()).isEqualTo(KvReply.Status.VALUES);
      assertThat(few.values().byteSize()).isEqualTo(4);
      long[] many = LongStream.range(0, 200).toArray();
      KvHead wide =
          new KvHead(
              KvOp.PULL,
              new KvHead.Target(0, SPEC.id()),
              KvHead.Progress.NONE,
              new KvHead.Listed(KvHead.Keys.INLINE, 200, 0, 0));
      assertThat(RawRequests.ask(job, wide, pairs(many)).text())
          .contains("800 bytes to be answered, and room for 0");
      float[] pulled = new float[2];
      table.pull(new long[] {4, 9}, pulled).await();
      assertThat(pulled).containsOnly(0);
    }
  }

  @Test
  void aRankWithOtherOptionsLearnsTheOptionsOfTheFirstRank() {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      Weft zero = job.ranks().get(0);
      Weft one = job.ranks().get(1);
      KvNode.open(zero, KvOptions.servers(2).withApplication(3)).close();
      assertThatThrownBy(() -> KvNode.open(one, KvOptions.servers(1).withApplication(3)))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("application 3")
          .hasMessageContaining("on rank 1 [servers 0, workers 1-2, ")
          .hasMessageContaining("on rank 0 [servers 0-1, workers 2, ");
      KvNode.open(one, KvOptions.servers(2).withApplication(3)).close();
      KvNode.open(one, KvOptions.servers(1).withApplication(4)).close();
    }
  }

  @Test
  void nonFiniteValuesAndOtherSpecificationsAreRefused() throws Exception {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      KvWorker worker = job.member(1).worker();
      KvTable table = worker.register(SPEC);
      assertThatThrownBy(() -> table.push(new long[] {1, 2}, new float[] {1, Float.NaN}))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("table 't'")
          .hasMessageContaining("value NaN of key 2");
      assertThatThrownBy(() -> worker.register(TableSpec.rows("t", 2).withRule("sgd:lr=0.1")))
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("all workers register the same; floats: '1', now '2'")
          .hasMessageContaining("; rule: 'sum', now 'sgd:lr=0.1'")
          .hasMessageContaining("; consistency: 'asynchronous', now 'synchronous'")
          .hasMessageContaining("; checks: 'FINITE', now 'LENGTHS'");
      assertThatThrownBy(() -> worker.register(TableSpec.rows("u", 2).withRule("adamgrad")))
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("adagrad");
      assertThatThrownBy(() -> table.push(new long[] {1}, new float[3]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("12 bytes for 1 keys of 1 floats, expected 4");
      assertThatThrownBy(() -> job.member(0).worker()).isInstanceOf(IllegalStateException.class);
      table.push(new long[] {1}, new float[] {5}).await();
    }
  }

  @Test
  void aPushBeyondTheMemoryBudgetIsRefusedAndTheServerContinues() throws Exception {
    try (KvJob job =
        new KvJob("tcp", 2, KvOptions.servers(1), it -> it.set(KvConfig.MEMORY, "2M"))) {
      KvTable table =
          job.member(1)
              .worker()
              .register(
                  TableSpec.rows("t", 256)
                      .with(Consistency.asynchronous())
                      .withRule("adam:lr=0.5"));
      long[] keys = new long[4096];
      for (int i = 0; i < keys.length; i++) {
        keys[i] = i;
      }
      assertThatThrownBy(() -> table.push(keys, new float[256 * 4096]).await())
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("memory budget");
      float[] ones = new float[256];
      Arrays.fill(ones, 1);
      Handle<Void> push = table.push(new long[] {0}, ones);
      push.await();
      assertThat(push).hasToString("rank 1: PUSH of 1 keys of table 't': done");
      // This is Adam's first step, because the refused push did not count as one.
      float[] pulled = new float[256];
      table.pull(new long[] {0}, pulled).await();
      for (float each : pulled) {
        assertThat(each).isCloseTo(-0.5f, within(1e-5f));
      }
    }
  }

  @Test
  void aKeyListThatTheShardHasDroppedIsSentAgain() throws Exception {
    try (KvJob job =
        new KvJob("tcp", 2, KvOptions.servers(1), it -> it.set(KvConfig.LIST_MEMORY, "4K"))) {
      KvTable table = job.member(1).worker().register(SPEC);
      long[] first = new long[300];
      long[] second = new long[300];
      float[] ones = new float[300];
      for (int i = 0; i < 300; i++) {
        first[i] = i;
        second[i] = i + 1000;
        ones[i] = 1;
      }
      for (int i = 0; i < 10; i++) {
        table.push(first, ones).await();
        table.push(second, ones).await();
      }
      float[] pulled = new float[300];
      table.pull(first, pulled).await();
      assertThat(pulled).containsOnly(10);
    }
  }

  @Test
  void aServerThatDoesNotAnswerIsNamedAfterTheDeadline() throws Exception {
    try (KvJob job =
        new KvJob("tcp", 2, KvOptions.servers(1).withDeadline(Duration.ofMillis(300)))) {
      KvTable table = job.member(1).worker().register(SPEC);
      job.job().ranks().get(0).channel().serve(16, request -> {});
      assertThatThrownBy(
              () -> {
                while (true) { // until the handler that does not reply receives a request
                  table.pull(new long[] {1}, new float[1]).await();
                }
              })
          .isInstanceOf(CommException.TimedOut.class)
          .hasMessageContaining("rank 0")
          .hasMessageContaining("300 ms");
    }
  }
}
