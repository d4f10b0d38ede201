// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.ThreadsConfig;
import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.agent.Ticker;
import io.weft.cluster.JobConfig;
import io.weft.cluster.JobProcess;
import io.weft.cluster.JoinClaim;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestHandler;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.cluster.store.SecretFile;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks ranks that join a running job and are lost, or that replace a lost rank.
@Timeout(120)
class LateRankLossTest {

  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int SECONDS = 40;

  private static WeftConfig.Builder config(String transport) {
    return WeftConfig.builder().transport(transport).startDeadline(LIMIT);
  }

  private static WeftConfig late(String transport) {
    return config(transport).set(JobConfig.JOIN, "true").build();
  }

  /// Replies to each request and records lost ranks.
  private static final class Answering implements RequestHandler {
    final BlockingQueue<Integer> gone = new LinkedBlockingQueue<>();

    Answering(Weft weft) {
      weft.channel().serve(FIRST_FREE_KIND, this);
    }

    @Override
    public void onRequest(IncomingRequest request) {
      request.reply(request.head());
    }

    @Override
    public void onPeerGone(int rank, CommException cause) {
      gone.add(rank);
    }
  }

  private static RequestOutcome ask(Weft from, int peer) throws Exception {
    var outcome = new CompletableFuture<RequestOutcome>();
    MemorySegment head = Arena.ofAuto().allocate(4);
    Request request = Request.of(FIRST_FREE_KIND, head, MemorySegment.NULL, LIMIT);
    assertThat(from.channel().tryRequest(peer, request, outcome::complete)).isTrue();
    return outcome.get(SECONDS, TimeUnit.SECONDS);
  }

  private static void reach(Weft from, int peer) throws Exception {
    assertThat(ask(from, peer)).isInstanceOf(RequestOutcome.Replied.class);
  }

  private static void assertGone(Weft from, int peer) throws Exception {
    assertThat(ask(from, peer))
        .isInstanceOfSatisfying(
            RequestOutcome.Failed.class,
            failed ->
                assertThat(failed.cause())
                    .isInstanceOfSatisfying(
                        CommException.PeerLost.class,
                        lost -> assertThat(lost.rank()).isEqualTo(peer)));
  }

  /// Sums ones until `end` is set.
  private static int sums(Weft weft, AtomicBoolean end) throws InterruptedException {
    int done = 0;
    float ends = 0;
    while (ends == 0) {
      try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(2))) {
        MemorySegment data = tensor.view().data();
        data.setAtIndex(ValueLayout.JAVA_FLOAT, 0, 1);
        data.setAtIndex(ValueLayout.JAVA_FLOAT, 1, end.get() ? 1 : 0);
        var unused =
            weft.communicator()
                .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, named("sum"))
                .await();
        assertThat(data.getAtIndex(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(weft.size());
        ends = data.getAtIndex(ValueLayout.JAVA_FLOAT, 1);
        done++;
      }
    }
    return done;
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void theLossOfALateRankFailsNoCollective(String transport) throws Exception {
    var end = new AtomicBoolean();
    try (MortalJob job = new MortalJob(3, config(transport).build())) {
      List<Future<Integer>> summing =
          List.of(0, 1, 2).stream().map(rank -> job.start(rank, weft -> sums(weft, end))).toList();
      Weft late = job.join(3, late(transport));
      Answering there = new Answering(late);
      Answering here = new Answering(job.rank(0));
      reach(job.rank(0), 3);
      job.kill(3);
      assertThat(here.gone.poll(SECONDS, TimeUnit.SECONDS)).isEqualTo(3);
      assertGone(job.rank(0), 3);
      Weft next = job.join(4, late(transport));
      assertThat(next.rank()).isEqualTo(4);
      reach(next, 0);
      end.set(true);
      for (Future<Integer> sums : summing) {
        assertThat(sums.get(SECONDS, TimeUnit.SECONDS)).isPositive();
      }
      assertThat(there.gone).doesNotContain(4);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aLateRankReplacesALostRank(String transport) throws Exception {
    try (MortalJob job = new MortalJob(3, config(transport).build())) {
      job.kill(1);
      Answering zero = new Answering(job.rank(0));
      assertThat(zero.gone.poll(SECONDS, TimeUnit.SECONDS)).isEqualTo(1);
      long start = System.nanoTime();
      Weft late = job.join(3, late(transport));
      assertThat(System.nanoTime() - start).isLessThan(LIMIT.toNanos() / 2);
      assertGone(late, 1);
      Answering there = new Answering(late);
      assertThat(there.gone.poll(SECONDS, TimeUnit.SECONDS)).isEqualTo(1);
      reach(job.rank(0), 3);
      reach(job.rank(2), 3);
      reach(late, 0);
      Future<Communicator> first = job.start(0, weft -> weft.shrink(LIMIT));
      Future<Communicator> second = job.start(2, weft -> weft.shrink(LIMIT));
      assertThat(first.get(SECONDS, TimeUnit.SECONDS).size()).isEqualTo(2);
      assertThat(second.get(SECONDS, TimeUnit.SECONDS).size()).isEqualTo(2);
      assertThat(job.rank(0).members().ranks()).containsExactly(0, 2);
      reach(job.rank(2), 3);
    }
  }

  @Test
  void theNumberOfAProcessThatDiesWhileItJoinsIsNotReused() throws Exception {
    try (MortalJob job = new MortalJob(2, config("tcp").build())) {
      try (JoinClaim claim =
          JoinClaim.take(
              Ticker.SYSTEM,
              job.store(),
              MortalJob.environment(0, 2),
              0,
              JobProcess.current(),
              LIMIT)) {
        assertThat(claim.rank()).isEqualTo(2);
      }
      Weft late = job.join(3, late("tcp"));
      assertThat(late.rank()).isEqualTo(3);
      new Answering(late);
      reach(job.rank(1), 3);
      assertGone(job.rank(1), 2);
      assertGone(late, 2);
      assertThat(job.rank(1).topology()).isEqualTo(late.topology());
      assertThat(late.topology().describe(2)).isEqualTo("rank 2");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void severalRanksJoinAtOnceWithSeveralProgressThreads(String transport) throws Exception {
    String threads = "collectives+rendezvous,channel";
    ExecutorService starts = Executors.newCachedThreadPool();
    try (MortalJob job =
        new MortalJob(2, config(transport).set(ThreadsConfig.PROGRESS_THREADS, threads).build())) {
      WeftConfig late =
          config(transport)
              .set(ThreadsConfig.PROGRESS_THREADS, threads)
              .set(JobConfig.JOIN, "true")
              .build();
      List<Future<Weft>> joining =
          List.of(2, 3, 4).stream()
              .map(place -> starts.submit(() -> job.join(place, late)))
              .toList();
      for (Future<Weft> joined : joining) {
        new Answering(joined.get(SECONDS, TimeUnit.SECONDS));
      }
      for (int from = 0; from < 5; from++) {
        for (int to = 2; to < 5; to++) {
          if (from != to) {
            reach(job.rank(from), to);
          }
        }
      }
      assertThat(job.rank(0).connections()).isEqualTo(2 * 4);
      assertThat(job.rank(4).connections()).isEqualTo(2 * 4);
    } finally {
      starts.shutdownNow();
    }
  }

  /// The joining rank does not wait until the deadline for ranks that are lost or leave.
  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aJoiningRankDoesNotWaitForRanksThatLeaveOrDie(String transport) throws Exception {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    var random = new Random(seed);
    ExecutorService starts = Executors.newCachedThreadPool();
    try {
      for (int round = 0; round < 4; round++) {
        try (MortalJob job = new MortalJob(4, config(transport).build())) {
          int lost = 1 + random.nextInt(3);
          int leaves = 1 + lost % 3;
          Weft leaver = job.rank(leaves);
          long pauseNanos = random.nextLong(30_000_000);
          Future<Weft> joining = starts.submit(() -> job.join(4, late(transport)));
          LockSupport.parkNanos(pauseNanos);
          job.kill(lost);
          Future<?> leaving = starts.submit(leaver::close);
          Weft late = joining.get(SECONDS / 4, TimeUnit.SECONDS);
          leaving.get(SECONDS, TimeUnit.SECONDS);
          new Answering(late);
          int stays = 6 - lost - leaves;
          reach(job.rank(0), 4);
          reach(job.rank(stays), 4);
          assertGone(late, lost);
          assertGone(late, leaves);
        } catch (AssertionError | Exception failed) {
          throw new AssertionError("seed " + seed + ", round " + round, failed);
        }
      }
    } finally {
      starts.shutdownNow();
    }
  }

  @Test
  void aProcessWithAnotherSecretOrOtherSettingsCannotJoin() throws Exception {
    try (MortalJob job = new MortalJob(2, config("tcp").build())) {
      WeftConfig quick =
          config("tcp").startDeadline(Duration.ofSeconds(2)).set(JobConfig.JOIN, "true").build();
      assertThatThrownBy(() -> job.join(2, quick, SecretFile.random()))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("no answer from rank 0")
          .hasMessageContaining("secret");
      WeftConfig other =
          config("tcp").heartbeat(Duration.ofMillis(500)).set(JobConfig.JOIN, "true").build();
      assertThatThrownBy(() -> job.join(3, other))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("heartbeat");
      Weft late = job.join(4, late("tcp"));
      assertThat(late.rank()).isEqualTo(4);
      new Answering(late);
      reach(job.rank(1), 4);
    }
  }

  @Test
  void aProcessCannotJoinAJobThatHasEnded() throws Exception {
    WeftConfig quick =
        config("tcp").startDeadline(Duration.ofSeconds(1)).set(JobConfig.JOIN, "true").build();
    MortalJob job = new MortalJob(2, config("tcp").build());
    job.close();
    assertThatThrownBy(() -> job.join(2, quick))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("it has ended");
    job.store().remove("epoch/0/meeting/0/member/1");
    assertThatThrownBy(() -> job.join(2, quick))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("rank 1 did not join");
  }
}
