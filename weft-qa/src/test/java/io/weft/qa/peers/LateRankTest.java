// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.peers;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.Connections;
import io.weft.cluster.JobConfig;
import io.weft.cluster.ProcessSet;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks a process that joins a running job, with all ranks in this process.
@Timeout(120)
class LateRankTest {

  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int ELEMENTS = 20_000;

  private static WeftConfig.Builder config(String transport) {
    return WeftConfig.builder().transport(transport).startDeadline(LIMIT);
  }

  private static WeftConfig late(WeftConfig.Builder config) {
    return config.set(JobConfig.JOIN, "true").build();
  }

  /// Answers requests with the number of this rank.
  private static void serve(Weft weft) {
    weft.channel()
        .serve(
            FIRST_FREE_KIND,
            request -> {
              MemorySegment reply = Arena.ofAuto().allocate(4, 4);
              reply.set(ValueLayout.JAVA_INT, 0, weft.rank());
              request.reply(reply);
            });
  }

  private static RequestOutcome ask(Weft from, int peer) throws Exception {
    var outcome = new CompletableFuture<RequestOutcome>();
    var number = new CompletableFuture<Integer>();
    MemorySegment head = Arena.ofAuto().allocate(4);
    Request request = Request.of(FIRST_FREE_KIND, head, MemorySegment.NULL, LIMIT);
    boolean taken =
        from.channel()
            .tryRequest(
                peer,
                request,
                it -> {
                  if (it instanceof RequestOutcome.Replied replied) {
                    number.complete(replied.body().get(ValueLayout.JAVA_INT_UNALIGNED, 0));
                  }
                  outcome.complete(it);
                });
    assertThat(taken).isTrue();
    RequestOutcome it = outcome.get(40, TimeUnit.SECONDS);
    if (it instanceof RequestOutcome.Replied) {
      assertThat(number.get()).isEqualTo(peer);
    }
    return it;
  }

  private static void reach(Weft from, int peer) throws Exception {
    assertThat(ask(from, peer)).isInstanceOf(RequestOutcome.Replied.class);
  }

  /// Sums until `end` is set, and returns the number of correct sums.
  private static int sums(Weft weft, AtomicBoolean end) throws InterruptedException {
    int right = 0;
    boolean more = true;
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(ELEMENTS));
        OwnedTensor vote = OwnedTensor.allocate(DType.FLOAT32, Shape.of(1))) {
      MemorySegment data = tensor.view().data();
      while (more) {
        for (int i = 0; i < ELEMENTS; i++) {
          data.setAtIndex(ValueLayout.JAVA_FLOAT, i, weft.rank() + i);
        }
        vote.view().data().set(ValueLayout.JAVA_FLOAT, 0, end.get() ? 1 : 0);
        var unused =
            weft.communicator()
                .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, named("sum"))
                .await();
        var votes =
            weft.communicator()
                .allreduce(vote.view(), vote.view(), ReduceOp.MAX, named("end"))
                .await();
        int ranks = weft.size();
        for (int i = 0; i < ELEMENTS; i++) {
          float expected = ranks * (ranks - 1) / 2f + (float) ranks * i;
          assertThat(data.getAtIndex(ValueLayout.JAVA_FLOAT, i)).isEqualTo(expected);
        }
        right++;
        more = vote.view().data().get(ValueLayout.JAVA_FLOAT, 0) == 0;
      }
    }
    return right;
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aProcessJoinsWhileTheOthersSum(String transport) throws Exception {
    var end = new AtomicBoolean();
    try (LocalJob job = LocalJob.over(transport, 3)) {
      var summing = CompletableFuture.supplyAsync(() -> job.run(weft -> sums(weft, end)));
      try (Weft late = job.join(late(config(transport)))) {
        assertThat(late.rank()).isEqualTo(3);
        assertThat(late.size()).isEqualTo(3);
        assertThat(late.topology().size()).isEqualTo(4);
        assertThat(late.connections()).isEqualTo(3);
        serve(late);
        for (Weft weft : job.ranks()) {
          assertThat(weft.size()).isEqualTo(3);
          assertThat(weft.topology().members()).isEqualTo(late.topology().members());
          serve(weft);
          reach(weft, 3);
          reach(late, weft.rank());
        }
      }
      end.set(true);
      assertThat(summing.get(60, TimeUnit.SECONDS)).allMatch(count -> count > 0);
    }
  }

  @Test
  void aLateRankBelongsToNoEpoch() {
    try (LocalJob job = LocalJob.over("inproc", 2);
        Weft late = job.join(late(config("inproc")))) {
      assertThatThrownBy(late::communicator)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("rank 2 joined while the job ran");
      assertThatThrownBy(() -> late.communicator(new ProcessSet(java.util.List.of(0, 2))))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> late.shrink(LIMIT)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(late::members).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(late::epoch).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aLateRankConnectsWithAllRanksUnderConnectionsUsed() throws Exception {
    WeftConfig.Builder config = config("tcp").connections(Connections.USED);
    try (LocalJob job = LocalJob.start(3, config.build());
        Weft late = job.join(late(config))) {
      assertThat(late.connections()).isEqualTo(3);
      serve(late);
      reach(job.ranks().get(1), 3);
    }
  }
}
