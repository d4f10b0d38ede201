// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.channel;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.cluster.channel.Request;
import io.weft.comm.CommException;
import io.weft.testkit.sim.SimFault;
import io.weft.testkit.sim.SimRank;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.SimReport.RankResult;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.network.SimLink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks requests of all ranks to all other ranks in virtual time.
@Timeout(120)
class SimulatedChannelTest {

  private static final int RANKS = 5;
  private static final int ROUNDS = 40;
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int[] SIZES = {0, 8, 9_000, 150_000};

  private static SimReport<Integer> simulate(Simulation simulation) throws InterruptedException {
    return simulation.runRanks(SimulatedChannelTest::askAll);
  }

  /// Sends requests to all other ranks in each round, and returns the number of correct replies.
  private static int askAll(SimRank self) throws InterruptedException {
    int right = 0;
    try (Weft weft = self.join()) {
      weft.channel()
          .serve(
              FIRST_FREE_KIND,
              request -> {
                MemorySegment sum = Arena.ofAuto().allocate(4);
                int bytes = (int) request.payload().byteSize();
                sum.set(JAVA_INT_UNALIGNED, 0, request.head().get(JAVA_INT_UNALIGNED, 0) + bytes);
                request.reply(sum);
              });
      for (int round = 0; round < ROUNDS; round++) {
        List<Answers> answers = new ArrayList<>();
        int bytes = SIZES[round % SIZES.length];
        for (int peer = 0; peer < RANKS; peer++) {
          if (peer != weft.rank()) {
            MemorySegment head = Arena.ofAuto().allocate(4);
            head.set(JAVA_INT_UNALIGNED, 0, round);
            MemorySegment payload = Arena.ofAuto().allocate(bytes + 1L).asSlice(0, bytes);
            answers.add(
                Answers.ask(
                    weft.channel(), peer, Request.of(FIRST_FREE_KIND, head, payload, LIMIT)));
          }
        }
        while (!answers.stream().allMatch(Answers::isEnded)) {
          self.compute(Duration.ofMillis(1));
        }
        for (Answers answer : answers) {
          right += numberOf(answer) == round + bytes ? 1 : 0;
        }
      }
      weft.communicator().barrier(io.weft.collective.CollectiveOptions.named("end")).await();
    }
    return right;
  }

  private static int numberOf(Answers answer) throws InterruptedException {
    try {
      return answer.number();
    } catch (java.util.concurrent.ExecutionException
        | java.util.concurrent.TimeoutException never) {
      throw new AssertionError(never);
    }
  }

  @Test
  void everyRequestGetsItsReply() throws InterruptedException {
    for (long seed = 1; seed <= 5; seed++) {
      SimReport<Integer> report =
          simulate(
              Simulation.of(RANKS)
                  .hosts(2)
                  .seed(seed)
                  .between(SimLink.ETHERNET.jittered(Duration.ofNanos(80_000))));
      assertThat(report.values()).as("seed %d", seed).containsOnly(ROUNDS * (RANKS - 1));
    }
  }

  @Test
  void requestsToADeadRankNameItAndAPauseHarmsNoRank() throws InterruptedException {
    SimReport<Integer> report =
        simulate(
            Simulation.of(RANKS)
                .hosts(RANKS)
                .fault(new SimFault.Pause(Duration.ofMillis(3), Duration.ofMillis(200), 1))
                .fault(new SimFault.Crash(Duration.ofMillis(12), 2)));
    for (int rank = 0; rank < RANKS; rank++) {
      RankResult<Integer> result = report.outcomes().get(rank);
      if (rank == 2) {
        assertThat(result).isInstanceOf(RankResult.Died.class);
      } else {
        assertThat(result).isInstanceOf(RankResult.Threw.class);
        assertThat(((RankResult.Threw<Integer>) result).cause())
            .isInstanceOf(CommException.PeerLost.class)
            .hasMessageContaining("rank 2");
      }
    }
  }
}
