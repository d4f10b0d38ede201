// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.agent.Ticker;
import io.weft.cluster.Bootstrap;
import io.weft.cluster.JobProcess;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.Topology;
import io.weft.cluster.store.InMemoryStore;
import io.weft.cluster.store.SecretFile;
import io.weft.comm.CommException;
import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks the start of four ranks: rank 3 meets the others and never connects, and rank 2 connects
/// and dies.
@Timeout(60)
class JoiningTest {

  /// Longer than the test may take, because no rank waits for it.
  private static final Duration START_DEADLINE = Duration.ofSeconds(300);

  private final InMemoryStore store = new InMemoryStore();
  private final Secret secret = SecretFile.random();

  private static LaunchEnvironment launch(int rank) {
    return new LaunchEnvironment(
        "testkit",
        rank,
        4,
        OptionalInt.of(rank),
        OptionalInt.of(4),
        Optional.of("test"),
        new StoreLocation.InProcess());
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void allRanksNameARankThatDiesDuringTheStartAtOnce(String transport) throws Exception {
    WeftConfig config =
        WeftConfig.builder().transport(transport).startDeadline(START_DEADLINE).build();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<CommException.Setup>> failures =
          IntStream.of(0, 1)
              .mapToObj(
                  rank ->
                      threads.submit(
                          () ->
                              catchThrowableOfType(
                                  CommException.Setup.class,
                                  () -> Weft.init(config, launch(rank), store, secret, "test"))))
              .toList();
      Future<Topology> absent = threads.submit(() -> meet(3, List.of()));
      Future<Boolean> dead = threads.submit(() -> connectAndDie(transport));
      assertThat(absent.get(50, TimeUnit.SECONDS).size()).isEqualTo(4);
      assertThat(dead.get(50, TimeUnit.SECONDS)).isTrue();
      for (int rank = 0; rank < 2; rank++) {
        assertThat(failures.get(rank).get(50, TimeUnit.SECONDS))
            .hasMessageStartingWith("rank " + rank + " on ")
            .hasMessageContaining("cannot join the job: rank 2 on ")
            .hasMessageContaining("is lost: its connection broke")
            .satisfies(failure -> assertThat(failure.ranks()).startsWith(2));
      }
    }
  }

  @Test
  void anInvalidAddressIsNamedWithItsRank() throws Exception {
    WeftConfig config = WeftConfig.builder().transport("tcp").startDeadline(START_DEADLINE).build();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<Topology>> others =
          IntStream.of(0, 2, 3)
              .mapToObj(
                  rank ->
                      threads.submit(() -> meet(rank, List.of(new Address("tcp", "nowhere:1")))))
              .toList();
      Future<CommException.Setup> failure =
          threads.submit(
              () ->
                  catchThrowableOfType(
                      CommException.Setup.class,
                      () -> Weft.init(config, launch(1), store, secret, "test")));
      assertThat(failure.get(50, TimeUnit.SECONDS))
          .hasMessageStartingWith("rank 1 on ")
          .hasMessageContainingAll(
              "cannot connect to rank 0 on ", "'tcp:nowhere:1'", "cannot be used", "--bind");
      for (Future<Topology> other : others) {
        assertThat(other.get(50, TimeUnit.SECONDS).size()).isEqualTo(4);
      }
    }
  }

  private boolean connectAndDie(String scheme) throws Exception {
    TransportProvider provider = TransportProvider.find(scheme).orElseThrow();
    var sink = new Connected();
    var credentials = new Credentials("test", 0, 2, secret);
    try (Transport transport =
        provider.open(new TransportConfig("127.0.0.1", START_DEADLINE, credentials), sink)) {
      Topology topology = meet(2, List.of(transport.address()));
      for (int rank = 0; rank < 2; rank++) {
        var unused = transport.connect(topology.members().get(rank).addresses().getFirst(), rank);
      }
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
      while (sink.connected < 2 && System.nanoTime() < end) {
        if (transport.poll(System.nanoTime()) == 0) {
          transport.await(1_000_000);
        }
      }
    }
    return sink.connected == 2;
  }

  private Topology meet(int rank, List<Address> addresses) throws InterruptedException {
    return Bootstrap.exchange(
        Ticker.SYSTEM,
        store,
        launch(rank),
        0,
        JobProcess.current(),
        addresses,
        List.of(),
        START_DEADLINE);
  }

  private static final class Connected implements FrameSink {
    private int connected;

    @Override
    public void onConnect(Endpoint endpoint) {
      connected++;
    }

    @Override
    public void onMessage(Endpoint from, MemorySegment message) {}

    @Override
    public void onNotify(Endpoint from, int immediate) {}

    @Override
    public void onFailure(Endpoint from, TransportException cause) {}
  }
}
