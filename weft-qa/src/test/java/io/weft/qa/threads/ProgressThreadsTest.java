// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.threads;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.ServiceThreads;
import io.weft.ThreadsConfig;
import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.channel.ChannelLane;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks services on separate progress threads.
@Timeout(120)
class ProgressThreadsTest {

  private static final Duration LONG = Duration.ofSeconds(50);

  private static WeftConfig config(String transport, String threads) {
    return WeftConfig.builder()
        .transport(transport)
        .set(ThreadsConfig.PROGRESS_THREADS, threads)
        .silenceLimit(Duration.ofSeconds(60))
        .build();
  }

  private static void allreduce(Weft weft, String name, int elements) throws InterruptedException {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
      weft.communicator()
          .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, named(name))
          .await(LONG);
    }
  }

  private static CompletableFuture<RequestOutcome> ask(Weft weft, int peer) {
    var outcome = new CompletableFuture<RequestOutcome>();
    Request request = Request.of(FIRST_FREE_KIND, MemorySegment.NULL, MemorySegment.NULL, LONG);
    assertThat(weft.channel().tryRequest(peer, request, outcome::complete)).isTrue();
    return outcome;
  }

  private static CompletableFuture<Arrival> receive(Weft weft, RendezvousKey key) {
    var arrived = new CompletableFuture<Arrival>();
    weft.rendezvous().receive(key, LONG, arrived::complete);
    return arrived;
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aHandlerThatBlocksItsThreadDelaysNoServiceOfOtherThreads(String transport) throws Exception {
    WeftConfig config = config(transport, "collectives+rendezvous,channel");
    try (LocalJob job = LocalJob.start(2, config);
        OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(50_000))) {
      Weft source = job.ranks().get(0);
      Weft blocked = job.ranks().get(1);
      var inside = new CountDownLatch(1);
      var over = new CountDownLatch(1);
      List<String> names = new ArrayList<>();
      blocked
          .channel()
          .serve(
              FIRST_FREE_KIND,
              request -> {
                names.add(Thread.currentThread().getName());
                inside.countDown();
                boolean unused = await(over);
                request.reply(MemorySegment.NULL);
              });
      CompletableFuture<RequestOutcome> outcome = ask(source, 1);
      assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
      job.run(
          weft -> {
            for (int i = 0; i < 20; i++) {
              allreduce(weft, "g" + i, i % 2 == 0 ? 3 : 100_000);
            }
            return true;
          });
      var key = new RendezvousKey(new Edge(0, 1, 1, "edge"), 1, 0, 0);
      CompletableFuture<Arrival> arrived = receive(blocked, key);
      source.rendezvous().publish(key, tensor.view(), () -> {});
      assertThat(arrived.get(30, TimeUnit.SECONDS)).isInstanceOf(Arrival.Live.class);
      if (arrived.join() instanceof Arrival.Live live) {
        live.tensor().close();
      }
      assertThat(outcome).isNotDone();
      over.countDown();
      assertThat(outcome.get(30, TimeUnit.SECONDS)).isInstanceOf(RequestOutcome.Replied.class);
      assertThat(names).containsExactly("weft-progress-1-1");
    }
  }

  private static boolean await(CountDownLatch latch) {
    try {
      return latch.await(40, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "inproc, 'channel,rendezvous,collectives'",
    "tcp, 'rendezvous,collectives+channel'",
    "shm, 'collectives,rendezvous,channel'"
  })
  void everyServiceWorksUnderEveryAssignmentOfThreads(String transport, String threads)
      throws Exception {
    try (LocalJob job = LocalJob.start(3, config(transport, threads));
        OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(50_000))) {
      job.run(
          weft -> {
            int next = (weft.rank() + 1) % 3;
            int before = (weft.rank() + 2) % 3;
            weft.channel().serve(FIRST_FREE_KIND, request -> request.reply(MemorySegment.NULL));
            allreduce(weft, "short", 2);
            allreduce(weft, "long", 300_000);
            assertThat(ask(weft, next).get(30, TimeUnit.SECONDS))
                .isInstanceOf(RequestOutcome.Replied.class);
            var out = new RendezvousKey(new Edge(weft.rank(), 1, next, "edge"), 1, 0, 0);
            var in = new RendezvousKey(new Edge(before, 1, weft.rank(), "edge"), 1, 0, 0);
            weft.rendezvous().publish(out, tensor.view(), () -> {});
            Arrival arrival = receive(weft, in).get(30, TimeUnit.SECONDS);
            assertThat(arrival).isInstanceOf(Arrival.Live.class);
            if (arrival instanceof Arrival.Live live) {
              live.tensor().close();
            }
            allreduce(weft, "end", 2);
            assertThat(weft.bytesSent()).isPositive();
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aRankThatLeavesIsLostToAllThreads(String transport) throws Exception {
    try (LocalJob job = LocalJob.start(2, config(transport, "collectives,rendezvous,channel"))) {
      Weft left = job.ranks().get(0);
      job.ranks().get(1).channel().serve(FIRST_FREE_KIND, request -> {});
      CompletableFuture<RequestOutcome> outcome = ask(left, 1);
      var key = new RendezvousKey(new Edge(1, 1, 0, "edge"), 1, 0, 0);
      CompletableFuture<Arrival> arrived = receive(left, key);
      job.ranks().get(1).close();
      assertThat(outcome.get(30, TimeUnit.SECONDS))
          .isInstanceOfSatisfying(
              RequestOutcome.Failed.class,
              failed -> assertThat(failed.cause()).hasMessageContaining("has left"));
      assertThat(arrived.get(30, TimeUnit.SECONDS))
          .isInstanceOfSatisfying(
              Arrival.Failed.class,
              failed -> assertThat(failed.cause()).hasMessageContaining("has left"));
      assertThatThrownBy(() -> allreduce(left, "late", 3)).isInstanceOf(CommException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void eachLaneOfTheChannelHasAThreadAndHandlersOfItsOwn(String transport) throws Exception {
    String threads = "collectives+rendezvous+channel,channel,channel";
    try (LocalJob job = LocalJob.start(2, config(transport, threads))) {
      List<ChannelLane> from = job.ranks().get(0).lanes();
      List<ChannelLane> to = job.ranks().get(1).lanes();
      assertThat(to).hasSize(3);
      for (int lane = 0; lane < 3; lane++) {
        var name = new CompletableFuture<String>();
        to.get(lane)
            .channel()
            .serve(
                FIRST_FREE_KIND,
                request -> {
                  name.complete(Thread.currentThread().getName());
                  request.reply(MemorySegment.NULL);
                });
        var outcome = new CompletableFuture<RequestOutcome>();
        try (TensorLease payload = from.get(lane).memory().apply(1 << 20)) {
          MemorySegment bytes = payload.view().data();
          Request request = Request.of(FIRST_FREE_KIND, MemorySegment.NULL, bytes, LONG);
          assertThat(from.get(lane).channel().tryRequest(1, request, outcome::complete)).isTrue();
          assertThat(outcome.get(30, TimeUnit.SECONDS)).isInstanceOf(RequestOutcome.Replied.class);
        }
        assertThat(name.join()).isEqualTo("weft-progress-1" + (lane == 0 ? "" : "-" + lane));
      }
      assertThat(job.ranks().get(0).transfers().copiedBytes()).isZero();
    }
  }

  @Test
  void closeInACallbackIsRefusedAndStopsNoThread() throws Exception {
    try (LocalJob job = LocalJob.start(2, config("inproc", "collectives,channel"))) {
      Weft weft = job.ranks().get(1);
      var refused = new CompletableFuture<Boolean>();
      weft.channel()
          .serve(
              FIRST_FREE_KIND,
              request -> {
                refused.complete(isRefused(weft));
                request.reply(MemorySegment.NULL);
              });
      assertThat(ask(job.ranks().get(0), 1).get(30, TimeUnit.SECONDS))
          .isInstanceOf(RequestOutcome.Replied.class);
      assertThat(refused.join()).isTrue();
      job.run(
          rank -> {
            allreduce(rank, "after", 3);
            return true;
          });
    }
  }

  private static boolean isRefused(Weft weft) {
    try {
      weft.close();
      return false;
    } catch (IllegalStateException expected) {
      return true;
    }
  }

  @Test
  void theSettingOfProgressThreadsIsCheckedAndCompleted() {
    assertThatThrownBy(
            () -> WeftConfig.builder().set(ThreadsConfig.PROGRESS_THREADS, "collectives,what"))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("progress-threads")
        .hasMessageContaining("collectives, rendezvous, channel");
    assertThat(
            WeftConfig.builder()
                .set(ThreadsConfig.PROGRESS_THREADS, "channel")
                .build()
                .value(ThreadsConfig.PROGRESS_THREADS)
                .orElseThrow())
        .hasToString("channel+collectives+rendezvous");
    assertThat(ServiceThreads.ofLanes(3))
        .hasToString("collectives+rendezvous+channel,channel,channel");
    for (String wrong :
        List.of("channel+channel", "collectives,collectives", "channel" + ",channel".repeat(16))) {
      assertThatThrownBy(() -> WeftConfig.builder().set(ThreadsConfig.PROGRESS_THREADS, wrong))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("channel");
    }
  }
}
