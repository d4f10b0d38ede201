// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.rendezvous;

import static io.weft.qa.rendezvous.Receipts.awaitEmpty;
import static io.weft.qa.rendezvous.Receipts.model;
import static io.weft.qa.rendezvous.Receipts.receive;
import static io.weft.qa.rendezvous.Receipts.words;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousConfig;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import io.weft.verbs.VerbsConfig;
import io.weft.verbs.VerbsProvider;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks the registrations with an RDMA device of the read and write protocols [JIA17 §3.3].
@Tag("rdma")
@Timeout(300)
class RdmaRendezvousTest {

  private static final int STEPS = 6;
  private static final List<String> EDGES = List.of("weights", "bias", "slots");
  private static final int WORDS = 60_000;

  /// A provider that records the transport of each rank.
  private static final class Watched implements TransportProvider {
    private final TransportProvider verbs = new VerbsProvider();
    private final ConcurrentHashMap<Integer, Transport> opened = new ConcurrentHashMap<>();

    @Override
    public String scheme() {
      return verbs.scheme();
    }

    @Override
    public Availability probe() {
      return verbs.probe();
    }

    @Override
    public Transport open(TransportConfig config, FrameSink sink) {
      Transport transport = verbs.open(config, sink);
      opened.put(config.credentials().node(), transport);
      return transport;
    }

    long registrations(int rank) {
      return opened.get(rank).counters().get("registrations");
    }
  }

  @ParameterizedTest
  @CsvSource({"read, 64M", "write, 64M", "read, 0", "write, 0"})
  void resentTensorsAreRegisteredAgainOnlyWithoutACache(String protocol, String kept)
      throws InterruptedException {
    WeftConfig config =
        WeftConfig.builder()
            .transport("verbs")
            .set(RendezvousConfig.PROTOCOL, protocol)
            .set(VerbsConfig.POOL_BYTES, kept)
            .set(VerbsConfig.CACHE_BYTES, kept)
            .build();
    Watched watched = new Watched();
    try (Arena arena = Arena.ofShared();
        LocalJob job = LocalJob.start(2, config, watched)) {
      List<TensorView> tensors =
          EDGES.stream().map(name -> Receipts.tensor(arena, WORDS, 0)).toList();
      step(job, tensors, 0);
      long source = watched.registrations(0);
      long destination = watched.registrations(1);
      for (int step = 1; step < STEPS; step++) {
        step(job, tensors, step);
      }
      job.ranks().forEach(Receipts::awaitEmpty);
      source = watched.registrations(0) - source;
      destination = watched.registrations(1) - destination;
      long receiveBuffers = job.ranks().get(1).rendezvous().counts().totals().registrations();
      System.getLogger("weft.verbs")
          .log(
              Level.INFO,
              "{0} protocol, transport keeps {1}: {2} tensors after the first step, ibv_reg_mr {3}"
                  + " times at the source and {4} at the destination, {5} regions to land in",
              protocol,
              kept,
              (STEPS - 1) * EDGES.size(),
              source,
              destination,
              receiveBuffers);
      assertThat(source).isEqualTo(kept.equals("0") ? (STEPS - 1) * EDGES.size() : 0);
      assertThat(destination).as("the receive buffer is one registered block").isZero();
      if (protocol.equals("write")) {
        assertThat(receiveBuffers).isEqualTo(EDGES.size());
      }
    }
  }

  private static void step(LocalJob job, List<TensorView> tensors, int step)
      throws InterruptedException {
    Weft source = job.ranks().get(0);
    Weft destination = job.ranks().get(1);
    CountDownLatch released = new CountDownLatch(EDGES.size());
    for (int i = 0; i < EDGES.size(); i++) {
      RendezvousKey key = RendezvousKey.of(new Edge(0, 7, 1, EDGES.get(i)), step);
      long first = 100L * step + i;
      TensorView tensor = tensors.get(i);
      for (int word = 0; word < WORDS; word++) {
        tensor.data().setAtIndex(ValueLayout.JAVA_LONG, word, first + word);
      }
      CompletableFuture<Arrival> arrival = receive(destination, key);
      source.rendezvous().publish(key, tensor, released::countDown);
      assertThat(words(arrival)).as("%s", key).isEqualTo(model(WORDS, first));
    }
    assertThat(released.await(60, TimeUnit.SECONDS)).as("all tensors are released").isTrue();
    for (Weft weft : job.ranks()) {
      weft.rendezvous().end(step);
      awaitEmpty(weft);
    }
  }
}
