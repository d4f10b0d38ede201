// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks a server that learns of a loss later than the peers that send it replica sets and shard
/// copies, and that still receives messages of the lost server. The test writes the requests of
/// ranks 0 and 1, which are servers. Rank 2 is a real server.
@Timeout(60)
class LateServerTest {

  private static final TableSpec COUNTERS =
      TableSpec.rows("counters", 1).with(Consistency.asynchronous());
  private static final KvOptions OPTIONS = KvOptions.servers(3).withMirrors();
  private static final int REAL = 2;
  private static final int WORKER = 3;

  /// A job of one shard, whose replica set is 0, 1, 2.
  private static final class Job implements AutoCloseable {
    private final LocalJob ranks =
        LocalJob.start(
            4, WeftConfig.builder().transport("inproc").set(KvConfig.SHARDS, "1").build());
    private final KvNode real = KvNode.open(ranks.ranks().get(REAL), OPTIONS, List.of(WORKER));

    /// Sends a request of a server or worker to the real server and returns the reply.
    KvReply ask(int rank, KvHead head, byte[] payload) throws Exception {
      boolean serves = rank != WORKER;
      MemorySegment words =
          MemorySegment.ofArray(new byte[KvHead.BYTES + (serves ? Integer.BYTES : 0)]);
      head.write(words.asSlice(0, KvHead.BYTES));
      if (serves) {
        words.set(JAVA_INT_UNALIGNED, KvHead.BYTES, 0);
      }
      MemorySegment sent = Arena.ofAuto().allocate(Math.max(1, payload.length));
      MemorySegment.copy(payload, 0, sent, JAVA_BYTE, 0, payload.length);
      var reply = new CompletableFuture<KvReply>();
      boolean asked =
          ranks
              .ranks()
              .get(rank)
              .channel()
              .tryRequest(
                  REAL,
                  Request.of(
                      OPTIONS.kind(),
                      words,
                      sent.asSlice(0, payload.length),
                      Duration.ofSeconds(20)),
                  outcome -> {
                    switch (outcome) {
                      case RequestOutcome.Replied(MemorySegment body, long _) ->
                          reply.complete(KvReply.read(body));
                      case RequestOutcome.Failed(var cause) -> reply.completeExceptionally(cause);
                    }
                  });
      assertThat(asked).isTrue();
      return reply.get(30, TimeUnit.SECONDS);
    }

    /// Sends a request and checks that the reply is `DONE`.
    void done(int rank, KvHead head, byte[] payload) throws Exception {
      KvReply reply = ask(rank, head, payload);
      assertThat(reply.status()).as(reply.text()).isEqualTo(KvReply.Status.DONE);
    }

    /// Copies the shard, which contains only the table.
    void copies(int rank, String ring) throws Exception {
      done(rank, head(KvOp.BEGIN, 0), ring.getBytes(StandardCharsets.UTF_8));
      done(rank, head(KvOp.REGISTER, 0), COUNTERS.text().getBytes(StandardCharsets.UTF_8));
      done(rank, head(KvOp.COMPLETE, 0), bytes(2));
    }

    @Override
    public void close() {
      real.close();
      ranks.close();
    }
  }

  private static KvHead head(KvOp op, int ring) {
    return head(op, KvHead.Keys.NONE, 0, ring);
  }

  /// Returns a head for one key or for none.
  private static KvHead head(KvOp op, KvHead.Keys keys, long number, int ring) {
    int count = keys == KvHead.Keys.NONE ? 0 : 1;
    long settled = Math.min(1, number);
    return new KvHead(
        op,
        new KvHead.Target(0, COUNTERS.id(), 0, ring),
        new KvHead.Progress(number, settled, 0),
        new KvHead.Listed(keys, count, 0, 0));
  }

  private static KvHead push(long number) {
    return head(KvOp.PUSH, KvHead.Keys.INLINE, number, 0);
  }

  private static KvHead pull(int ring) {
    return head(KvOp.PULL, KvHead.Keys.INLINE, 0, ring);
  }

  private static byte[] one(long key) {
    return ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN).putLong(key).putFloat(1).array();
  }

  private static byte[] bytes(long value) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  private static float pulled(Job job, long key, int ring) throws Exception {
    KvReply reply = job.ask(WORKER, pull(ring), bytes(key));
    assertThat(reply.status()).as(reply.text()).isEqualTo(KvReply.Status.VALUES);
    return reply.values().get(JAVA_FLOAT_UNALIGNED, 0);
  }

  @Test
  void lateRequestsOfALostServerAreNotMixedWithTheCopyOfItsMirror() throws Exception {
    try (var job = new Job()) {
      job.copies(0, "0 3");
      job.done(0, push(1), one(7));
      job.copies(1, "0 3 -0");
      for (KvHead late : List.of(push(2), head(KvOp.COMPLETE, 0), head(KvOp.WINDOW, 0))) {
        KvReply reply = job.ask(0, late, one(7));
        assertThat(reply.status()).isEqualTo(KvReply.Status.REFUSED);
        assertThat(reply.text()).contains("rank 0 is lost");
      }
      KvReply reply = job.ask(0, head(KvOp.BEGIN, 0), "0 3".getBytes(StandardCharsets.UTF_8));
      assertThat(reply.text()).contains("rank 0 is lost");
      // The state of the mirror counts: push 2 of the worker is new and is executed once here.
      job.done(1, push(2), one(7));
      job.ranks.ranks().get(1).close();
      assertThat(pulled(job, 7, 0)).isEqualTo(1);
    }
  }

  @Test
  void aServerKeepsAShardThatANewReplicaSetAssignsToIt() throws Exception {
    try (var job = new Job()) {
      job.copies(1, "0 3 -0");
      job.done(1, push(1), one(7));
      // Rank 9 has replaced rank 0 and is lost too, because otherwise rank 2 would have no replica.
      job.done(1, head(KvOp.RING, 1), "1 3 0:9 -9".getBytes(StandardCharsets.UTF_8));
      job.done(1, push(2), one(7));
      job.ranks.ranks().get(1).close();
      assertThat(pulled(job, 7, 1)).isEqualTo(2);
    }
  }

  @Test
  void aServerIgnoresTheReportThatItIsLostItself() throws Exception {
    try (var job = new Job()) {
      job.copies(1, "0 3 -0 -2");
      job.done(1, push(1), one(7));
      job.ranks.ranks().get(1).close();
      assertThat(pulled(job, 7, 0)).isEqualTo(1);
    }
  }

  @Test
  void aCopyThatLacksARequestIsIncomplete() throws Exception {
    try (var job = new Job()) {
      job.done(1, head(KvOp.BEGIN, 0), "0 3 -0".getBytes(StandardCharsets.UTF_8));
      job.done(1, head(KvOp.REGISTER, 0), COUNTERS.text().getBytes(StandardCharsets.UTF_8));
      KvReply early = job.ask(1, head(KvOp.COMPLETE, 0), bytes(3));
      assertThat(early.text()).contains("in 3 requests, but 2 were executed");
      job.ranks.ranks().get(1).close();
      KvReply asked = job.ask(WORKER, pull(0), bytes(7));
      assertThat(asked.text()).contains("shard 0 is lost");
    }
  }
}
