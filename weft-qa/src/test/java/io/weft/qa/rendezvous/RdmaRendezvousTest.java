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

/// Checks that the read and write protocols move tensors one-sided and register no memory after the
/// first step [JIA17 §3.3].
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

    long counted(int rank, String name) {
      return opened.get(rank).counters().get(name);
    }
  }

  @ParameterizedTest
  @CsvSource({"read, 64M", "write, 64M", "read, 0", "write, 0"})
  void tensorsMoveOneSidedWithoutRegistrations(String protocol, String kept)
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
      String moved = protocol.equals("read") ? "oneSidedReadBytes" : "oneSidedWrittenBytes";
      int mover = protocol.equals("read") ? 1 : 0;
      long before = watched.counted(mover, moved);
      long source = watched.counted(0, "registrations");
      long destination = watched.counted(1, "registrations");
      for (int step = 1; step < STEPS; step++) {
        step(job, tensors, step);
      }
      job.ranks().forEach(Receipts::awaitEmpty);
      source = watched.counted(0, "registrations") - source;
      destination = watched.counted(1, "registrations") - destination;
      long receiveBuffers = job.ranks().get(1).rendezvous().counts().totals().registrations();
      long bytes = EDGES.size() * WORDS * 8L;
      assertThat(source).as("registrations at the source").isZero();
      assertThat(destination).as("registrations at the destination").isZero();
      assertThat(watched.counted(mover, moved) - before)
          .as("bytes that the device moved between both memories")
          .isEqualTo((STEPS - 1) * bytes);
      assertThat(job.ranks().getFirst().rendezvous().counts().totals().copiedBytes())
          .isEqualTo(STEPS * bytes);
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
