// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.threads;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.ThreadsConfig;
import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.sim.SimFault;
import io.weft.testkit.sim.SimRank;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.SimReport.RankResult;
import io.weft.testkit.sim.Simulation;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks ranks with two progress threads in virtual time.
@Timeout(120)
class SimulatedThreadsTest {

  private static final int RANKS = 4;
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private static Simulation simulation(long seed) {
    return Simulation.of(RANKS)
        .hosts(RANKS)
        .seed(seed)
        .config(
            WeftConfig.builder()
                .set(ThreadsConfig.PROGRESS_THREADS, "collectives,rendezvous+channel")
                .build());
  }

  /// The observations of one rank.
  ///
  /// @param replies the number of replies
  /// @param requests the first failure of requests, or empty
  /// @param collectives the first failure of allreduces, or empty
  private record Seen(int replies, String requests, String collectives) {}

  private static Seen work(SimRank self, int rounds) throws InterruptedException {
    try (Weft weft = self.join();
        OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(2_000))) {
      weft.channel().serve(FIRST_FREE_KIND, request -> request.reply(MemorySegment.NULL));
      int replies = 0;
      String requests = "";
      String collectives = "";
      for (int round = 0; round < rounds && (requests + collectives).isEmpty(); round++) {
        List<RequestOutcome> outcomes = new ArrayList<>();
        for (int peer = 0; peer < RANKS; peer++) {
          if (peer != weft.rank()) {
            Request request =
                Request.of(FIRST_FREE_KIND, MemorySegment.NULL, MemorySegment.NULL, LIMIT);
            assertThat(weft.channel().tryRequest(peer, request, outcomes::add)).isTrue();
          }
        }
        collectives = sum(weft, tensor, "g" + round);
        while (outcomes.size() < RANKS - 1) {
          self.compute(Duration.ofMillis(1));
        }
        for (RequestOutcome outcome : outcomes) {
          if (outcome instanceof RequestOutcome.Failed failed) {
            requests = words(failed.cause());
          } else {
            replies++;
          }
        }
      }
      if (!(requests + collectives).isEmpty()) { // both threads learn of it
        self.compute(Duration.ofMillis(100));
        collectives = collectives.isEmpty() ? sum(weft, tensor, "last") : collectives;
        List<RequestOutcome> last = new ArrayList<>();
        Request request =
            Request.of(FIRST_FREE_KIND, MemorySegment.NULL, MemorySegment.NULL, LIMIT);
        assertThat(weft.channel().tryRequest(lost(collectives), request, last::add)).isTrue();
        while (last.isEmpty()) {
          self.compute(Duration.ofMillis(1));
        }
        requests = last.getFirst() instanceof RequestOutcome.Failed f ? words(f.cause()) : "none";
      }
      return new Seen(replies, requests, collectives);
    }
  }

  private static String sum(Weft weft, OwnedTensor tensor, String name)
      throws InterruptedException {
    try {
      weft.communicator()
          .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, named(name))
          .await(LIMIT);
      return "";
    } catch (CommException failed) {
      return words(failed);
    }
  }

  private static String words(CommException cause) {
    return cause instanceof CommException.PeerLost lost
        ? "lost " + lost.rank()
        : cause.getClass().getSimpleName();
  }

  private static int lost(String words) {
    return words.startsWith("lost ") ? Integer.parseInt(words.substring(5)) : 0;
  }

  @Test
  void bothThreadsWorkAndRunsAreReproducible() throws InterruptedException {
    for (long seed = 1; seed <= 3; seed++) {
      SimReport<Seen> first = simulation(seed).runRanks(self -> work(self, 20));
      assertThat(first.values()).containsOnly(new Seen(20 * (RANKS - 1), "", ""));
      SimReport<Seen> again = simulation(seed).runRanks(self -> work(self, 20));
      assertThat(again.trace().hash()).as("seed %d", seed).isEqualTo(first.trace().hash());
    }
  }

  @Test
  void aRankThatDiesIsLostToBothThreads() throws InterruptedException {
    SimReport<Seen> report =
        simulation(7)
            .fault(new SimFault.Crash(Duration.ofMillis(12), 2))
            .runRanks(self -> work(self, 10_000));
    for (int rank = 0; rank < RANKS; rank++) {
      RankResult<Seen> result = report.outcomes().get(rank);
      if (rank == 2) {
        assertThat(result).isInstanceOf(RankResult.Died.class);
      } else {
        assertThat(result).isInstanceOf(RankResult.Returned.class);
        Seen seen = ((RankResult.Returned<Seen>) result).value();
        assertThat(seen.collectives()).isEqualTo("lost 2");
        assertThat(seen.requests()).isEqualTo("lost 2");
      }
    }
  }

  @Test
  void aBrokenConnectionOfOneThreadLosesTheRankToBothThreads() throws InterruptedException {
    for (long seed = 1; seed <= 10; seed++) {
      SimReport<Seen> report =
          simulation(seed)
              .fault(new SimFault.Cut(Duration.ofMillis(12), 1, 3))
              .runRanks(self -> work(self, 10_000));
      int failed = 0;
      for (RankResult<Seen> result : report.outcomes()) {
        assertThat(result).as("seed %d", seed).isInstanceOf(RankResult.Returned.class);
        Seen seen = ((RankResult.Returned<Seen>) result).value();
        assertThat(seen.collectives()).as("seed %d: %s", seed, report.outcomes()).isNotEmpty();
        if (seen.collectives().startsWith("lost")) {
          // A rank that has lost the other one may also learn that the other one has given it up.
          assertThat(seen.requests()).as("seed %d", seed).isIn(seen.collectives(), "Excluded");
          failed++;
        } else {
          assertThat(seen.requests()).as("seed %d", seed).isEqualTo("Excluded");
        }
      }
      assertThat(failed).as("seed %d", seed).isPositive();
    }
  }
}
