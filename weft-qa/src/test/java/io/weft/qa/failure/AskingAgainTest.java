// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.cluster.channel.Request;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks callbacks that submit a new request whatever the outcome was, as in a program with a
/// constant number of open requests. When the rank leaves the job, the callbacks are notified, new
/// requests are refused, and `close` returns.
@Timeout(60)
class AskingAgainTest {

  private static final Duration LONG = Duration.ofSeconds(50);
  private static final int OPEN = 50;

  /// Submits a new request in each callback, and counts its outcomes and refusals.
  private static final class Asker {
    private final AtomicInteger told = new AtomicInteger();
    private final ConcurrentLinkedQueue<RuntimeException> refused = new ConcurrentLinkedQueue<>();
    private final AtomicInteger depth = new AtomicInteger();
    private final AtomicInteger deepest = new AtomicInteger();

    void told(Runnable again) {
      told.incrementAndGet();
      deepest.accumulateAndGet(depth.incrementAndGet(), Math::max);
      try {
        again.run();
      } catch (RuntimeException thrown) {
        refused.add(thrown);
      } finally {
        depth.decrementAndGet();
      }
    }
  }

  enum Service {
    CHANNEL {
      @Override
      void ask(Weft weft, int number, Asker asker) {
        Request request = Request.of(FIRST_FREE_KIND, MemorySegment.NULL, MemorySegment.NULL, LONG);
        boolean taken =
            weft.channel()
                .tryRequest(1, request, outcome -> asker.told(() -> ask(weft, number, asker)));
        assertThat(taken).isTrue();
      }
    },
    RECEIVE {
      @Override
      void ask(Weft weft, int number, Asker asker) {
        var key = new RendezvousKey(new Edge(1, 1, 0, "edge" + number), 1, 0, 0);
        weft.rendezvous().receive(key, LONG, arrival -> asker.told(() -> ask(weft, number, asker)));
      }
    },
    PUBLISH {
      @Override
      void ask(Weft weft, int number, Asker asker) {
        var key = new RendezvousKey(new Edge(0, 1, 1, "edge" + number), 1, 0, 0);
        var tensor = new TensorView(DType.FLOAT32, Shape.of(4), Arena.ofAuto().allocate(16, 4));
        weft.rendezvous().publish(key, tensor, () -> asker.told(() -> ask(weft, number, asker)));
      }
    },
    COLLECTIVE {
      @Override
      void ask(Weft weft, int number, Asker asker) {
        Handle<Void> handle = weft.communicator().barrier(named("barrier" + number));
        handle.whenDone((done, failure) -> asker.told(() -> ask(weft, number, asker)));
      }
    };

    abstract void ask(Weft weft, int number, Asker asker);
  }

  @ParameterizedTest
  @EnumSource
  void closeReturnsAndCallbacksDoNotNest(Service service) throws Exception {
    Asker asker = new Asker();
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      Weft zero = job.ranks().getFirst();
      for (int number = 0; number < OPEN; number++) {
        service.ask(zero, number, asker);
      }
      CompletableFuture<Void> left = CompletableFuture.runAsync(zero::close);
      left.get(30, TimeUnit.SECONDS);
      assertThat(asker.told.get()).isGreaterThanOrEqualTo(OPEN);
      assertThat(asker.refused)
          .hasSize(OPEN)
          .allSatisfy(
              refused ->
                  assertThat(refused)
                      .isInstanceOf(CommException.Aborted.class)
                      .hasMessageContaining("has left the job"));
      assertThat(asker.deepest).as("callbacks inside callbacks").hasValueLessThanOrEqualTo(2);
    }
  }

  /// A request after the rank has left completes its callback once, on the requesting thread.
  @ParameterizedTest
  @EnumSource
  void requestsAfterTheRankHasLeftFailOnTheRequestingThread(Service service) throws Exception {
    Asker asker = new Asker();
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      Weft zero = job.ranks().getFirst();
      zero.close();
      List<CompletableFuture<Void>> threads = new ArrayList<>();
      for (int thread = 0; thread < 3; thread++) {
        int first = thread * OPEN;
        threads.add(
            CompletableFuture.runAsync(
                () -> {
                  for (int number = first; number < first + OPEN; number++) {
                    service.ask(zero, number, asker);
                  }
                }));
      }
      for (CompletableFuture<Void> thread : threads) {
        thread.get(30, TimeUnit.SECONDS);
      }
      assertThat(asker.told).hasValue(3 * OPEN);
    }
  }
}
