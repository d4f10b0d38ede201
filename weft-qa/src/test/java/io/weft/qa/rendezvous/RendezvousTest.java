// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.rendezvous;

import static io.weft.qa.rendezvous.Receipts.awaitEmpty;
import static io.weft.qa.rendezvous.Receipts.failure;
import static io.weft.qa.rendezvous.Receipts.model;
import static io.weft.qa.rendezvous.Receipts.of;
import static io.weft.qa.rendezvous.Receipts.publish;
import static io.weft.qa.rendezvous.Receipts.receive;
import static io.weft.qa.rendezvous.Receipts.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.ReceiveRequest;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousConfig;
import io.weft.rendezvous.RendezvousCounts;
import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.TransferQueue;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks the contract of a rendezvous over each transport with each protocol.
@Timeout(400)
class RendezvousTest {

  private static final long INCARNATION = 0x1ce;

  /// Sizes below and above the limit of a tensor inside a message, and the extremes.
  private static final int[] SIZES = {0, 1, 1000, 20_000, 200_000};

  private final AtomicInteger out = new AtomicInteger();

  static Stream<Arguments> ways() {
    return Stream.of("inproc", "tcp", "shm")
        .flatMap(t -> Stream.of("read", "write").map(p -> Arguments.of(t, p)));
  }

  private static WeftConfig.Builder config(String transport, String protocol) {
    return WeftConfig.builder().transport(transport).set(RendezvousConfig.PROTOCOL, protocol);
  }

  private static LocalJob job(String transport, String protocol, int size) {
    return LocalJob.start(size, config(transport, protocol).build());
  }

  private static Edge edge(int from, int to, String name) {
    return new Edge(from, INCARNATION, to, name);
  }

  private void end(LocalJob job, long... steps) {
    for (Weft weft : job.ranks()) {
      for (long step : steps) {
        weft.rendezvous().end(step);
      }
    }
    job.ranks().forEach(Receipts::awaitEmpty);
    assertThat(out).as("tensors that are not released").hasValue(0);
  }

  @ParameterizedTest
  @MethodSource("ways")
  void tensorsOfAllSizesArriveRequestedBeforeOrAfterPublishing(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 2)) {
      Weft source = job.ranks().get(0);
      Weft destination = job.ranks().get(1);
      for (long step = 0; step < 6; step++) {
        for (int size : SIZES) {
          RendezvousKey key = RendezvousKey.of(edge(0, 1, "e" + size), step);
          CompletableFuture<Arrival> arrival;
          if (step % 2 == 0) {
            arrival = receive(destination, key);
            publish(source, key, size, 31 * step, out);
          } else {
            publish(source, key, size, 31 * step, out);
            arrival = receive(destination, key);
          }
          assertThat(words(arrival)).as("%s", key).isEqualTo(model(size, 31 * step));
        }
      }
      end(job, 0, 1, 2, 3, 4, 5);
      RendezvousCounts counts = destination.rendezvous().counts();
      assertThat(counts.totals().received()).isEqualTo(6L * SIZES.length);
      if (protocol.equals("write")) {
        assertThat(counts.totals().registrations()).as("one for each long edge").isEqualTo(2);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void tensorsPublishedTogetherShareMessages(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 2)) {
      Weft source = job.ranks().get(0);
      Weft destination = job.ranks().get(1);
      List<Rendezvous.Offer> offers = new ArrayList<>();
      List<ReceiveRequest> wishes = new ArrayList<>();
      List<CompletableFuture<Arrival>> arrivals = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        var arrival = new CompletableFuture<Arrival>();
        RendezvousKey key = RendezvousKey.of(edge(0, 1, "e" + i), 0);
        offers.add(Receipts.offer(key, 3, 100 * i, out));
        wishes.add(new ReceiveRequest(key, arrival::complete));
        arrivals.add(arrival);
      }
      destination.rendezvous().receiveAll(wishes, Receipts.LONG);
      awaitParked(source, wishes.size());
      long before = source.rendezvous().counts().totals().messages();
      source.rendezvous().publishAll(offers);
      for (int i = 0; i < offers.size(); i++) {
        assertThat(words(arrivals.get(i))).isEqualTo(model(3, 100 * i));
      }
      assertThat(source.rendezvous().counts().totals().messages() - before).isEqualTo(1);
      RendezvousKey elsewhere = RendezvousKey.of(edge(1, 0, "elsewhere"), 0);
      List<Rendezvous.Offer> wrong =
          List.of(
              Receipts.offer(RendezvousKey.of(edge(0, 1, "e"), 0), 3, 0, new AtomicInteger()),
              Receipts.offer(elsewhere, 1, 0, new AtomicInteger()));
      assertThatThrownBy(() -> source.rendezvous().publishAll(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("elsewhere");
      end(job, 0);
    }
  }

  private static void awaitParked(Weft source, int requests) {
    long end = System.nanoTime() + Receipts.LONG.toNanos();
    while (source.rendezvous().counts().parked() < requests) {
      assertThat(System.nanoTime() - end).as("parked in time").isNegative();
      Thread.yield();
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void shapesMayChangeFromStepToStep(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 2)) {
      Edge edge = edge(0, 1, "varying");
      int[] sizes = {30_000, 30_000, 40_000, 10, 40_000, 20_000, 0, 20_000};
      for (int step = 0; step < sizes.length; step++) {
        RendezvousKey key = RendezvousKey.of(edge, step);
        CompletableFuture<Arrival> arrival = receive(job.ranks().get(1), key);
        publish(job.ranks().get(0), key, sizes[step], step, out);
        assertThat(words(arrival)).as("step %d", step).isEqualTo(model(sizes[step], step));
      }
      end(job, 0, 1, 2, 3, 4, 5, 6, 7);
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void iterationsAndFramesHaveSeparateTensorsThatMayBeDead(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 2)) {
      Edge edge = edge(1, 0, "loop");
      List<CompletableFuture<Arrival>> arrivals = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        arrivals.add(receive(job.ranks().get(0), new RendezvousKey(edge, 3, i % 2, i / 2)));
      }
      for (int i = 11; i >= 0; i--) {
        var key = new RendezvousKey(edge, 3, i % 2, i / 2);
        if (i % 3 == 0) {
          job.ranks().get(1).rendezvous().publishDead(key);
        } else {
          publish(job.ranks().get(1), key, i % 3 == 1 ? 5 : 9000, i, out);
        }
      }
      for (int i = 0; i < 12; i++) {
        if (i % 3 == 0) {
          assertThat(of(arrivals.get(i))).isInstanceOf(Arrival.Dead.class);
        } else {
          assertThat(words(arrivals.get(i))).isEqualTo(model(i % 3 == 1 ? 5 : 9000, i));
        }
      }
      end(job, 3);
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void anAbortFailsBothSidesAndLaterReceives(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 2)) {
      Weft source = job.ranks().get(0);
      Weft destination = job.ranks().get(1);
      Edge edge = edge(0, 1, "never");
      CompletableFuture<Arrival> waiting = receive(destination, RendezvousKey.of(edge, 1));
      publish(source, RendezvousKey.of(edge(0, 1, "unwanted"), 1), 70_000, 1, out);
      source.rendezvous().abort(1, "the loss is not a number");
      assertThat(failure(waiting))
          .isInstanceOf(CommException.Aborted.class)
          .hasMessageContaining("the loss is not a number")
          .hasMessageContaining("never")
          .hasMessageContaining("rank 0");
      publish(source, RendezvousKey.of(edge, 1), 10, 1, out);
      CompletableFuture<Arrival> late =
          receive(destination, RendezvousKey.of(edge(0, 1, "late"), 1));
      assertThat(failure(late)).hasMessageContaining("the loss is not a number");

      CompletableFuture<Arrival> other = receive(destination, RendezvousKey.of(edge, 2));
      destination.rendezvous().abort(2, "cancelled by the user");
      assertThat(failure(other)).hasMessageContaining("cancelled by the user");
      assertThat(failure(receive(destination, RendezvousKey.of(edge, 2))))
          .hasMessageContaining("cancelled by the user");
      publish(source, RendezvousKey.of(edge, 2), 10, 1, out);

      CompletableFuture<Arrival> fine = receive(destination, RendezvousKey.of(edge, 3));
      publish(source, RendezvousKey.of(edge, 3), 10, 8, out);
      assertThat(words(fine)).isEqualTo(model(10, 8));
      end(job, 1, 2, 3);
      assertThat(failure(receive(destination, RendezvousKey.of(edge, 2))))
          .hasMessageContaining("step 2 has ended");
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void aDeadlineNamesTheProducerAndLeavesNothing(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 2)) {
      Edge edge = edge(0, 1, "never");
      CompletableFuture<Arrival> remote =
          receive(job.ranks().get(1), RendezvousKey.of(edge, 1), Duration.ofMillis(50));
      CompletableFuture<Arrival> local =
          receive(
              job.ranks().get(0), RendezvousKey.of(edge(0, 0, "own"), 1), Duration.ofMillis(50));
      assertThat(failure(remote))
          .isInstanceOf(CommException.Aborted.class)
          .hasMessageContaining("never")
          .hasMessageContaining("rank 0")
          .hasMessageContaining("PT0.05S");
      assertThat(failure(local)).hasMessageContaining("own");
      end(job, 1);
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void aTensorForTheSameRankIsTheProducersMemory(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 1)) {
      Weft weft = job.ranks().get(0);
      RendezvousKey key = RendezvousKey.of(edge(0, 0, "own"), 9);
      publish(weft, key, 40_000, 5, out);
      CompletableFuture<Arrival> arrival = receive(weft, key);
      Arrival there = of(arrival);
      weft.rendezvous().end(9);
      assertThat(out).as("lent").hasValue(1);
      assertThat(there).isInstanceOf(Arrival.Live.class);
      assertThat(words(arrival)).isEqualTo(model(40_000, 5));
      end(job);
      assertThat(weft.rendezvous().counts().totals().messages()).isZero();
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void receivesFromARankThatLeavesFail(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 3)) {
      Weft survivor = job.ranks().get(0);
      CompletableFuture<Arrival> waiting =
          receive(survivor, RendezvousKey.of(edge(2, 0, "gone"), 4));
      CompletableFuture<Arrival> other = receive(survivor, RendezvousKey.of(edge(1, 0, "here"), 4));
      publish(job.ranks().get(2), RendezvousKey.of(edge(2, 1, "kept"), 4), 50_000, 1, out);
      job.ranks().get(2).close();
      assertThat(failure(waiting))
          .isInstanceOf(CommException.PeerLost.class)
          .hasMessageContaining("rank 2");
      assertThat(failure(receive(survivor, RendezvousKey.of(edge(2, 0, "more"), 4))))
          .isInstanceOf(CommException.PeerLost.class);
      publish(job.ranks().get(1), RendezvousKey.of(edge(1, 0, "here"), 4), 50_000, 2, out);
      assertThat(words(other)).isEqualTo(model(50_000, 2));
      Weft left = job.ranks().get(2);
      publish(left, RendezvousKey.of(edge(2, 0, "after"), 4), 10, 2, out);
      assertThat(failure(receive(left, RendezvousKey.of(edge(1, 2, "after"), 4))))
          .hasMessageContaining("left");
      for (Weft weft : List.of(survivor, job.ranks().get(1))) {
        weft.rendezvous().end(4);
        awaitEmpty(weft);
      }
      assertThat(out).hasValue(0);
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void aTensorOutlivesTheJob(String transport, String protocol) {
    Arrival arrival;
    try (LocalJob job = job(transport, protocol, 2)) {
      RendezvousKey key = RendezvousKey.of(edge(0, 1, "last"), 1);
      publish(job.ranks().get(0), key, 60_000, 3, out);
      arrival = of(receive(job.ranks().get(1), key));
    }
    assertThat(words(CompletableFuture.completedFuture(arrival))).isEqualTo(model(60_000, 3));
  }

  @ParameterizedTest
  @MethodSource("ways")
  void receivesSubmittedTogetherShareRequests(String transport, String protocol) {
    assertThat(requestsOf(1000, transport, protocol, "fused")).isBetween(1L, 40L);
  }

  @ParameterizedTest
  @MethodSource("ways")
  void receivesAreSentSinglyUnderTheSettingSingle(String transport, String protocol) {
    assertThat(requestsOf(100, transport, protocol, "single")).isEqualTo(100);
  }

  @ParameterizedTest
  @EnumSource(TransferQueue.class)
  void tensorsOfConcurrentThreadsArriveWithEachQueue(TransferQueue queue) throws Exception {
    WeftConfig config =
        config("inproc", "read").set(RendezvousConfig.QUEUE, queue.toString()).build();
    try (LocalJob job = LocalJob.start(2, config)) {
      List<Thread> threads = new ArrayList<>();
      Queue<CompletableFuture<Arrival>> arrivals = new ConcurrentLinkedQueue<>();
      for (int i = 0; i < 4; i++) {
        String first = "thread" + i + "/";
        threads.add(
            Thread.startVirtualThread(
                () -> {
                  for (int n = 0; n < 500; n++) {
                    RendezvousKey key = RendezvousKey.of(edge(0, 1, first + n), 0);
                    arrivals.add(receive(job.ranks().get(1), key));
                    publish(job.ranks().get(0), key, 1, 7, out);
                  }
                }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(arrivals).hasSize(2000).allMatch(each -> words(each)[0] == 7);
      end(job, 0);
    }
  }

  /// Returns the number of messages that request `tensors` tensors by receives that were submitted
  /// together.
  private long requestsOf(int tensors, String transport, String protocol, String requests) {
    WeftConfig config =
        config(transport, protocol).set(RendezvousConfig.REQUESTS, requests).build();
    try (LocalJob job = LocalJob.start(2, config)) {
      Weft destination = job.ranks().get(1);
      List<ReceiveRequest> wishes = new ArrayList<>();
      List<CompletableFuture<Arrival>> arrivals = new ArrayList<>();
      for (int i = 0; i < tensors; i++) {
        CompletableFuture<Arrival> arrival = new CompletableFuture<>();
        arrivals.add(arrival);
        wishes.add(
            new ReceiveRequest(RendezvousKey.of(edge(0, 1, "small" + i), 0), arrival::complete));
      }
      destination.rendezvous().receiveAll(wishes, Receipts.LONG);
      for (int i = 0; i < tensors; i++) {
        publish(job.ranks().get(0), wishes.get(i).key(), 1, i, out);
      }
      for (int i = 0; i < tensors; i++) {
        assertThat(words(arrivals.get(i))).isEqualTo(model(1, i));
      }
      end(job, 0);
      return destination.rendezvous().counts().totals().requests();
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void aTensorLongerThanTheMemoryIsRefusedEachTime(String transport, String protocol) {
    WeftConfig config = config(transport, protocol).set(RendezvousConfig.MEMORY, "1M").build();
    try (LocalJob job = LocalJob.start(2, config)) {
      Weft source = job.ranks().get(0);
      Weft destination = job.ranks().get(1);
      for (long step = 0; step < 3; step++) {
        RendezvousKey key = RendezvousKey.of(edge(0, 1, "long"), step);
        CompletableFuture<Arrival> arrival = receive(destination, key);
        publish(source, key, 200_000, step, out);
        assertThat(failure(arrival))
            .hasMessageContaining("long")
            .hasMessageContaining("1600000 bytes")
            .hasMessageContaining("rendezvous-memory");
      }
      RendezvousKey shorter = RendezvousKey.of(edge(0, 1, "long"), 3);
      CompletableFuture<Arrival> arrival = receive(destination, shorter);
      publish(source, shorter, 20_000, 3, out);
      assertThat(words(arrival)).isEqualTo(model(20_000, 3));
      end(job, 0, 1, 2, 3);
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void eachSeriesOfStepsEndsIndependently(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 2)) {
      Edge edge = edge(0, 1, "x");
      long far = RendezvousKey.step(4, 1_000_000);
      long first = RendezvousKey.step(5, 0);
      end(job, far);
      assertThat(failure(receive(job.ranks().get(1), RendezvousKey.of(edge, far - 100_000))))
          .hasMessageContaining("has ended");
      CompletableFuture<Arrival> arrival =
          receive(job.ranks().get(1), RendezvousKey.of(edge, first));
      publish(job.ranks().get(0), RendezvousKey.of(edge, first), 3, 1, out);
      assertThat(words(arrival)).isEqualTo(model(3, 1));
      end(job, first);
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void edgesOfOtherRanksAreRefused(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 1)) {
      Weft weft = job.ranks().get(0);
      assertThatThrownBy(() -> receive(weft, RendezvousKey.of(edge(0, 1, "x"), 0)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("rank 0 of 1");
      assertThatThrownBy(() -> weft.rendezvous().publishDead(RendezvousKey.of(edge(1, 0, "x"), 0)))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> edge(0, 0, "")).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> RendezvousKey.of(edge(0, 0, "x"), -1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
