// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.rendezvous;

import io.weft.Weft;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousCounts;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/// Helpers of tests with a rendezvous, which await its callbacks and fill tensors.
final class Receipts {

  static final Duration LONG = Duration.ofMinutes(3);

  private Receipts() {}

  static CompletableFuture<Arrival> receive(Weft weft, RendezvousKey key, Duration limit) {
    var arrival = new CompletableFuture<Arrival>();
    weft.rendezvous().receive(key, limit, arrival::complete);
    return arrival;
  }

  static CompletableFuture<Arrival> receive(Weft weft, RendezvousKey key) {
    return receive(weft, key, LONG);
  }

  static Arrival of(CompletableFuture<Arrival> arrival) {
    try {
      return arrival.get(4, TimeUnit.MINUTES);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new AssertionError("a receive never ended", e);
    }
  }

  /// Awaits an arrival, which must be a tensor, returns its contents and closes it.
  static long[] words(CompletableFuture<Arrival> arrival) {
    return switch (of(arrival)) {
      case Arrival.Live(var tensor) -> {
        try (tensor) {
          yield tensor.view().data().toArray(ValueLayout.JAVA_LONG);
        }
      }
      case Arrival.Dead() -> throw new AssertionError("dead");
      case Arrival.Failed(var cause) -> throw new AssertionError("failed", cause);
    };
  }

  static io.weft.comm.CommException failure(CompletableFuture<Arrival> arrival) {
    return switch (of(arrival)) {
      case Arrival.Failed(var cause) -> cause;
      case Arrival.Live _, Arrival.Dead _ -> throw new AssertionError("it did not fail");
    };
  }

  /// Returns a tensor of `words` elements, each `first` plus its index.
  static TensorView tensor(Arena arena, int words, long first) {
    var data = arena.allocate(Math.max(1, words) * 8L, 64).asSlice(0, words * 8L);
    for (int i = 0; i < words; i++) {
      data.setAtIndex(ValueLayout.JAVA_LONG, i, first + i);
    }
    return new TensorView(DType.INT64, Shape.of(words), data);
  }

  static long[] model(int words, long first) {
    return java.util.stream.LongStream.range(first, first + words).toArray();
  }

  /// Publishes a tensor in separate memory, which is overwritten and freed upon its release.
  static void publish(Weft weft, RendezvousKey key, int words, long first, AtomicInteger out) {
    Rendezvous.Offer offer = offer(key, words, first, out);
    weft.rendezvous().publish(offer.key(), offer.tensor(), offer.release());
  }

  /// Returns such a tensor as an offer.
  static Rendezvous.Offer offer(RendezvousKey key, int words, long first, AtomicInteger out) {
    Arena arena = Arena.ofShared();
    TensorView tensor = tensor(arena, words, first);
    out.getAndIncrement();
    return new Rendezvous.Offer(
        key,
        tensor,
        () -> {
          tensor.data().fill((byte) 0xEE);
          arena.close();
          out.getAndDecrement();
        });
  }

  /// Waits until no state of any step is left.
  static void awaitEmpty(Weft weft) {
    long end = System.nanoTime() + LONG.toNanos();
    RendezvousCounts counts = weft.rendezvous().counts();
    while (!counts.isEmpty()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("rank " + weft.rank() + " still holds " + counts);
      }
      Thread.yield();
      counts = weft.rendezvous().counts();
    }
  }
}
