// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.peers;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.Connections;
import io.weft.cluster.ProcessSet;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.sim.SimFault;
import io.weft.testkit.sim.SimRank;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.SimReport.RankResult;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.network.SimLink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks connections that are made at their first use, in virtual time.
@Timeout(240)
class SimulatedConnectionsTest {

  private static final int RANKS = 100;
  private static final int SERVERS = 4;
  private static final int REQUESTS = 3;
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final WeftConfig CONFIG =
      WeftConfig.builder()
          .connections(Connections.USED)
          .heartbeat(Duration.ofMillis(200))
          .silenceLimit(Duration.ofSeconds(1))
          .startDeadline(Duration.ofSeconds(5))
          .build();

  private static Simulation job(int ranks, long seed) {
    return Simulation.of(ranks)
        .hosts(Math.min(ranks, 10))
        .seed(seed)
        .config(CONFIG)
        .between(SimLink.ETHERNET.jittered(Duration.ofNanos(80_000)));
  }

  private static void serve(Weft weft) {
    weft.channel()
        .serve(
            FIRST_FREE_KIND,
            request -> {
              MemorySegment reply = Arena.ofAuto().allocate(4);
              reply.set(JAVA_INT_UNALIGNED, 0, 1 + request.head().get(JAVA_INT_UNALIGNED, 0));
              request.reply(reply);
            });
  }

  /// Requests the successor of `number` from a peer, and returns the outcome.
  private static RequestOutcome ask(SimRank self, Weft weft, int peer, int number) {
    MemorySegment head = Arena.ofAuto().allocate(4);
    head.set(JAVA_INT_UNALIGNED, 0, number);
    var outcome = new AtomicReference<RequestOutcome>();
    Request request =
        Request.of(FIRST_FREE_KIND, head, Arena.ofAuto().allocate(1).asSlice(0, 0), LIMIT);
    while (!weft.channel()
        .tryRequest(
            peer,
            request,
            reply -> {
              if (reply instanceof RequestOutcome.Replied replied) {
                assertThat(replied.body().get(JAVA_INT_UNALIGNED, 0)).isEqualTo(number + 1);
              }
              outcome.set(reply);
            })) {
      self.compute(Duration.ofMillis(1));
    }
    while (outcome.get() == null) {
      self.compute(Duration.ofMillis(1));
    }
    return outcome.get();
  }

  /// Runs a server, or a worker that sends requests to two servers, and returns its number of
  /// connections at the end.
  private static int work(SimRank self) throws InterruptedException {
    try (Weft weft = self.join()) {
      if (self.rank() < SERVERS) {
        serve(weft);
      } else {
        for (int request = 0; request < REQUESTS; request++) {
          assertThat(ask(self, weft, self.rank() % SERVERS, request))
              .isInstanceOf(RequestOutcome.Replied.class);
          assertThat(ask(self, weft, (self.rank() + 1) % SERVERS, request))
              .isInstanceOf(RequestOutcome.Replied.class);
        }
      }
      weft.store().put("done/" + self.rank(), new byte[0]);
      for (int rank = SERVERS; rank < self.size(); rank++) {
        byte[] unused = weft.store().get("done/" + rank, LIMIT);
      }
      return weft.connections();
    }
  }

  @Test
  void workersConnectOnlyWithTheServersThatTheyUse() throws InterruptedException {
    SimReport<Integer> report = job(RANKS, 1).runRanks(SimulatedConnectionsTest::work);
    List<Integer> connections = report.values();
    assertThat(connections).as(report.summary()).hasSize(RANKS);
    assertThat(connections.subList(0, SERVERS)).containsOnly((RANKS - SERVERS) * 2 / SERVERS);
    assertThat(connections.subList(SERVERS, RANKS)).containsOnly(2);
  }

  @Test
  void unconnectedRanksAreNotifiedOfALoss() throws InterruptedException {
    int victim = 9;
    Duration death = Duration.ofMillis(400);
    SimReport<Integer> report =
        job(20, 2)
            .fault(new SimFault.Crash(death, victim))
            .runRanks(
                self -> {
                  try (Weft weft = self.join()) {
                    var lost = new AtomicReference<CommException>();
                    weft.onFailure(lost::set);
                    if (self.rank() < SERVERS) {
                      serve(weft);
                    } else {
                      for (int server = 0; server < SERVERS; server++) {
                        assertThat(ask(self, weft, server, server))
                            .isInstanceOf(RequestOutcome.Replied.class);
                      }
                    }
                    assertThat(self.now()).isLessThan(death);
                    while (lost.get() == null) {
                      self.compute(Duration.ofMillis(1));
                    }
                    assertThat(lost.get()).isInstanceOf(CommException.PeerLost.class);
                    return ((CommException.PeerLost) lost.get()).rank();
                  }
                });
    for (int rank = 0; rank < 20; rank++) {
      RankResult<Integer> result = report.outcomes().get(rank);
      if (rank == victim) {
        assertThat(result).isInstanceOf(RankResult.Died.class);
      } else {
        assertThat(result).as(report.summary()).isEqualTo(new RankResult.Returned<>(rank, victim));
      }
    }
  }

  @Test
  void ranksThatConnectToEachOtherAtOnceShareOneConnection() throws InterruptedException {
    for (long seed = 1; seed <= 60; seed++) {
      SimReport<Integer> report =
          job(3, seed)
              .runRanks(
                  self -> {
                    try (Weft weft = self.join()) {
                      serve(weft);
                      for (int request = 0; request < REQUESTS; request++) {
                        for (int peer = 0; peer < 3; peer++) {
                          if (peer != self.rank()) {
                            assertThat(ask(self, weft, peer, request))
                                .isInstanceOf(RequestOutcome.Replied.class);
                          }
                        }
                      }
                      weft.store().put("done/" + self.rank(), new byte[0]);
                      for (int rank = 0; rank < 3; rank++) {
                        byte[] unused = weft.store().get("done/" + rank, LIMIT);
                      }
                      return weft.connections();
                    }
                  });
      assertThat(report.values()).as(report.summary()).containsExactly(2, 2, 2);
    }
  }

  @Test
  void collectivesOfSomeRanksConnectOnlyTheseRanks() throws InterruptedException {
    SimReport<Integer> report =
        job(12, 4)
            .runRanks(
                self -> {
                  try (Weft weft = self.join()) {
                    if (self.rank() < SERVERS) {
                      TensorView sum =
                          new TensorView(
                              DType.INT32, Shape.of(50_000), Arena.ofAuto().allocate(200_000, 64));
                      sum.data().set(java.lang.foreign.ValueLayout.JAVA_INT, 0, self.rank());
                      var servers = new ProcessSet(IntStream.range(0, SERVERS).boxed().toList());
                      var unused =
                          weft.communicator(servers)
                              .allreduce(sum, sum, ReduceOp.SUM, CollectiveOptions.named("s"))
                              .await();
                      assertThat(sum.data().get(java.lang.foreign.ValueLayout.JAVA_INT, 0))
                          .isEqualTo(6);
                    }
                    weft.store().put("done/" + self.rank(), new byte[0]);
                    for (int rank = 0; rank < 12; rank++) {
                      byte[] unused = weft.store().get("done/" + rank, LIMIT);
                    }
                    return weft.connections();
                  }
                });
    assertThat(report.values()).as(report.summary()).hasSize(12);
    assertThat(report.values().subList(0, SERVERS)).allMatch(made -> made >= 1 && made < SERVERS);
    assertThat(report.values().subList(SERVERS, 12)).containsOnly(0);
  }

  /// The rank has left in order before any rank had a request for it.
  @Test
  void anUnreachableRankIsLostAfterTheStartDeadline() throws InterruptedException {
    SimReport<Integer> report =
        job(2, 5)
            .runRanks(
                self -> {
                  try (Weft weft = self.join()) {
                    if (self.rank() == 0) {
                      weft.store().put("left", new byte[0]);
                      return 0;
                    }
                    byte[] unused = weft.store().get("left", LIMIT);
                    self.compute(Duration.ofSeconds(3));
                    RequestOutcome outcome = ask(self, weft, 0, 1);
                    assertThat(outcome).isInstanceOf(RequestOutcome.Failed.class);
                    assertThat(((RequestOutcome.Failed) outcome).cause())
                        .isInstanceOf(CommException.PeerLost.class)
                        .hasMessageContaining("could not connect to it for 5.0 s");
                    return 1;
                  }
                });
    assertThat(report.values()).as(report.summary()).containsExactly(0, 1);
  }
}
