// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.rendezvous;

import static io.weft.qa.rendezvous.Receipts.awaitEmpty;
import static io.weft.qa.rendezvous.Receipts.model;
import static io.weft.qa.rendezvous.Receipts.of;
import static io.weft.qa.rendezvous.Receipts.receive;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousConfig;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Transfers random tensors while steps are aborted or ended, limits pass and ranks leave, and
/// checks that each receive yields the right contents or fails, that each tensor is released once,
/// and that nothing is left. A released tensor is overwritten and freed at once, so that a late
/// read yields wrong contents.
@Timeout(400)
class FaultyTransfersTest {

  private static final int RANKS = 3;
  private static final int IN_A_STEP = 10;

  /// The transfers of a step that begin after its fault, so that some of them fail.
  private static final int AFTER_FAULT = 4;

  private static final int MOST_WORDS = 40_000;
  private static final int EDGES = 8;

  private final long seed = Long.getLong("weft.test.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final int transfers =
      Integer.getInteger("weft.test.operations", transfers(Boolean.getBoolean("weft.test.long")));
  private final Deque<Fault> deck = new ArrayDeque<>();
  private int live;
  private int failed;

  /// The disturbance of a step.
  private enum Fault {
    NONE,
    SHORT_LIMIT,
    ABORT,
    END,
    LEAVE
  }

  /// One tensor on its way.
  private record Transfer(
      RendezvousKey key,
      CompletableFuture<Arrival> arrival,
      AtomicInteger releases,
      int words,
      long first) {}

  static Stream<Arguments> ways() {
    return Stream.of("inproc", "tcp", "shm")
        .flatMap(t -> Stream.of("read", "write").map(p -> Arguments.of(t, p)));
  }

  int transfers(boolean isLong) {
    return isLong ? 1000 : 300;
  }

  WeftConfig.Builder config(String transport) {
    return WeftConfig.builder().transport(transport);
  }

  @ParameterizedTest
  @MethodSource("ways")
  void contentsAreRightOrTheReceiveFails(String transport, String protocol) {
    System.getLogger("weft.qa").log(System.Logger.Level.INFO, "weft.test.seed={0,number,#}", seed);
    WeftConfig config = config(transport).set(RendezvousConfig.PROTOCOL, protocol).build();
    while (live + failed < transfers) {
      try (LocalJob job = LocalJob.start(RANKS, config)) {
        series(job.ranks());
      }
    }
    assertThat(live).as("tensors that arrived").isGreaterThan(transfers / 3);
    assertThat(failed).as("receives that failed").isGreaterThan(transfers / 20);
  }

  /// Runs steps until a rank has left.
  private void series(List<Weft> ranks) {
    Fault fault = Fault.NONE;
    for (int step = 1; fault != Fault.LEAVE && live + failed < transfers; step++) {
      fault = nextFault();
      step(ranks, step, fault);
    }
  }

  /// Deals the next step's fault. Of six steps in a row, two are undisturbed and each fault
  /// disturbs one, so that the shortest run, of sixty transfers, meets every fault.
  private Fault nextFault() {
    if (deck.isEmpty()) {
      List<Fault> cards = new ArrayList<>(List.of(Fault.values()));
      cards.add(Fault.NONE);
      Collections.shuffle(cards, random);
      deck.addAll(cards);
    }
    return deck.remove();
  }

  private void step(List<Weft> ranks, int step, Fault fault) {
    String what = "seed " + seed + ", step " + step + ", " + fault;
    Weft victim = ranks.get(random.nextInt(RANKS));
    int when = random.nextInt(IN_A_STEP - AFTER_FAULT);
    List<Transfer> transfers = new ArrayList<>();
    for (int i = 0; i < IN_A_STEP; i++) {
      Duration limit =
          fault == Fault.SHORT_LIMIT ? Duration.ofNanos(random.nextInt(3_000_000)) : Receipts.LONG;
      // A rank that has left allocates nothing.
      boolean allocates = random.nextBoolean() && (fault != Fault.LEAVE || i <= when);
      transfers.add(transfer(ranks, step, i, limit, allocates));
      if (i == when) {
        disturb(victim, step, fault);
      }
    }
    for (Transfer transfer : transfers) {
      check(transfer, what, fault);
    }
    for (Weft weft : ranks) {
      if (fault != Fault.LEAVE || weft != victim) {
        weft.rendezvous().end(step);
        awaitEmpty(weft);
      }
    }
    for (Transfer transfer : transfers) {
      assertThat(transfer.releases()).as("releases of %s, %s", transfer.key(), what).hasValue(1);
    }
  }

  private static void disturb(Weft victim, int step, Fault fault) {
    switch (fault) {
      case ABORT -> victim.rendezvous().abort(step, "the test aborts it");
      case END -> victim.rendezvous().end(step);
      case LEAVE -> victim.close();
      case NONE, SHORT_LIMIT -> {}
    }
  }

  private Transfer transfer(
      List<Weft> ranks, int step, int number, Duration limit, boolean allocates) {
    int from = random.nextInt(RANKS);
    int to = (from + 1 + random.nextInt(RANKS - 1)) % RANKS;
    int words = random.nextInt(4) == 0 ? random.nextInt(600) : random.nextInt(MOST_WORDS);
    long first = random.nextLong() >>> 1;
    // The edges recur with other lengths, so that kept buffers are used again.
    Edge edge = new Edge(from, 7, to, "edge " + number % EDGES);
    RendezvousKey key = new RendezvousKey(edge, step, 0, number / EDGES);
    AtomicInteger releases = new AtomicInteger();
    boolean receivesFirst = random.nextBoolean();
    CompletableFuture<Arrival> early =
        receivesFirst ? receive(ranks.get(to), key, limit) : new CompletableFuture<>();
    publish(ranks.get(from), key, model(words, first), allocates, releases);
    CompletableFuture<Arrival> arrival = receivesFirst ? early : receive(ranks.get(to), key, limit);
    return new Transfer(key, arrival, releases, words, first);
  }

  private static void publish(
      Weft source, RendezvousKey key, long[] words, boolean allocates, AtomicInteger releases) {
    Shape shape = Shape.of(words.length);
    TensorView tensor;
    Runnable free;
    if (allocates) {
      TensorLease lease = source.allocate(DType.INT64, shape);
      tensor = lease.view();
      free = lease::close;
    } else {
      Arena arena = Arena.ofShared();
      tensor = new TensorView(DType.INT64, shape, arena.allocate(words.length * 8L, 64));
      free = arena::close;
    }
    MemorySegment.copy(words, 0, tensor.data(), ValueLayout.JAVA_LONG, 0, words.length);
    source
        .rendezvous()
        .publish(
            key,
            tensor,
            () -> {
              tensor.data().fill((byte) 0xEE);
              free.run();
              releases.getAndIncrement();
            });
  }

  private void check(Transfer transfer, String what, Fault fault) {
    switch (of(transfer.arrival())) {
      case Arrival.Live(var tensor) -> {
        try (tensor) {
          assertThat(tensor.view().data().toArray(ValueLayout.JAVA_LONG))
              .as("%s, %s", transfer.key(), what)
              .isEqualTo(model(transfer.words(), transfer.first()));
        }
        live++;
      }
      case Arrival.Failed(var cause) -> {
        if (fault == Fault.NONE) {
          throw new AssertionError(transfer.key() + ", " + what, cause);
        }
        failed++;
      }
      case Arrival.Dead() -> throw new AssertionError(transfer.key() + " is dead, " + what);
    }
  }
}
