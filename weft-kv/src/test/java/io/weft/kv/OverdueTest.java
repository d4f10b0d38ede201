// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.function.KvFunction;
import io.weft.kv.function.ShardValues;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that the error of a rank that waits in vain names the reason.
@Timeout(60)
class OverdueTest {

  private static final TableSpec COUNTERS =
      TableSpec.rows("counters", 1).with(Consistency.asynchronous());

  /// The deadline of the second worker, rank 2.
  private static final Duration SHORT = Duration.ofSeconds(2);

  private static KvJob job(KvOptions options) {
    return new KvJob(
        "inproc", 3, options, it -> it, rank -> rank == 2 ? options.withDeadline(SHORT) : options);
  }

  /// A function that runs until the test lets it return.
  private record Waits(CountDownLatch begun, CountDownLatch resume) implements KvFunction<Integer> {
    @Override
    public String name() {
      return "waits";
    }

    @Override
    public byte[] argument() {
      return new byte[0];
    }

    @Override
    public byte[] run(ShardValues values, byte[] argument) {
      begun.countDown();
      await(resume);
      return new byte[0];
    }

    @Override
    public Integer join(List<byte[]> results) {
      return results.size();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aRequestBehindABlockedFunctionNamesTheFunction() throws Exception {
    var waits = new Waits(new CountDownLatch(1), new CountDownLatch(1));
    try (KvJob job = job(KvOptions.servers(1).withFunction(waits))) {
      KvTable first = job.member(1).worker().register(COUNTERS);
      KvTable second = job.member(2).worker().register(COUNTERS);
      Handle<Integer> called = first.call(waits);
      await(waits.begun());
      assertThatThrownBy(() -> second.pull(new long[] {1}, new float[1]).await())
          .isInstanceOf(CommException.TimedOut.class)
          .hasMessageContaining("the thread of shard 0 on rank 0 runs function 'waits'")
          .hasMessageContaining("table 'counters', called by rank 1")
          .hasMessageNotContaining("clock");
      waits.resume().countDown();
      called.await();
    } finally {
      waits.resume().countDown();
    }
  }

  @Test
  void aCommandBehindAnUnansweredCommandNamesThatCommand() throws Exception {
    var begun = new CountDownLatch(1);
    var resume = new CountDownLatch(1);
    KvOptions options =
        KvOptions.servers(1)
            .withCommands(
                (worker, command) -> {
                  begun.countDown();
                  await(resume);
                  return Optional.of("done");
                });
    try (KvJob job = job(options)) {
      var first = CompletableFuture.supplyAsync(() -> ask(job.member(1).worker(), "save"));
      await(begun);
      assertThatThrownBy(() -> job.member(2).worker().command("load"))
          .isInstanceOf(CommException.TimedOut.class)
          .hasMessageContaining("the program on rank 0 answers command 'save' of rank 1");
      resume.countDown();
      first.join();
    } finally {
      resume.countDown();
    }
  }

  private static String ask(KvWorker store, String command) {
    try {
      return store.command(command).toString();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aPullOfABoundedTableNamesTheWorkersThatAreBehind() throws Exception {
    TableSpec spec = TableSpec.rows("b", 1).with(Consistency.bounded(1));
    try (KvJob job = job(KvOptions.servers(1))) {
      KvTable unused = job.member(1).worker().register(spec);
      KvTable second = job.member(2).worker().register(spec);
      second.clock().await();
      second.clock().await();
      assertThatThrownBy(() -> second.pull(new long[] {1}, new float[1]).await())
          .isInstanceOf(CommException.TimedOut.class)
          .hasMessageContaining("at clock 2 it waits until all workers are at clock 1")
          .hasMessageContaining("ranks [1] are not");
    }
  }

  @Test
  void aRankThatServesItselfWaitsNoLongerThanTheDeadline() throws Exception {
    KvOptions options = KvOptions.everyRank().withDeadline(SHORT);
    try (KvJob job = new KvJob("inproc", 2, options, it -> it.set(KvConfig.SHARDS, "4"))) {
      TableSpec spec = TableSpec.rows("t", 1);
      KvTable first = job.member(0).worker().register(spec);
      KvTable second = job.member(1).worker().register(spec);
      long[] keys = {1, 2, 3, 4, 5, 6, 7, 8};
      float[] ones = {1, 1, 1, 1, 1, 1, 1, 1};
      first.push(keys, ones).await();
      float[] pulled = new float[8];
      assertThatThrownBy(() -> first.pull(keys, pulled).await())
          .isInstanceOf(CommException.TimedOut.class)
          .hasMessageContaining("clock 1 lacks the pushes of ranks [1]");
      second.push(keys, ones).await();
      first.pull(keys, pulled).await();
      assertThat(pulled).containsOnly(2);
    }
  }

  @Test
  void theWorkerOfMissingFirstValuesIsNamed() throws Exception {
    TableSpec spec = TableSpec.tensor("w", 10);
    try (KvJob job = job(KvOptions.servers(1))) {
      KvTensor second = job.member(2).worker().registerTensor(spec);
      assertThatThrownBy(() -> second.init(MemorySegment.ofArray(new float[10])).await())
          .isInstanceOf(CommException.TimedOut.class)
          .hasMessageContaining("it waits for the first values of rank 1");
    }
  }
}
