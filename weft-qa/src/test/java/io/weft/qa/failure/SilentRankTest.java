// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.ProcessSet;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.ExpectedFailures;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks a silent rank 2 of three: a callback blocks its progress thread, while its connections
/// remain open.
@Timeout(120)
class SilentRankTest {

  private static final int SILENT = 2;

  private final CountDownLatch armed = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);

  private static LocalJob job(String transport) {
    return LocalJob.start(
        3,
        WeftConfig.builder()
            .transport(transport)
            .heartbeat(Duration.ofMillis(100))
            .silenceLimit(Duration.ofSeconds(3))
            .build());
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(100, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /// Returns the broadcast that ends when rank 0's data has arrived. From then on rank 2's progress
  /// thread is blocked until it is released. As a leaf of the broadcast, rank 2 owes no rank any
  /// data that its progress thread has not sent yet.
  private Handle<TensorView> standStill(Weft weft) {
    if (weft.rank() != SILENT) {
      await(armed);
      return word(weft);
    }
    Handle<TensorView> go = word(weft);
    go.whenDone((nothing, failure) -> await(released));
    armed.countDown();
    return go;
  }

  private static Handle<TensorView> word(Weft weft) {
    TensorView word = new TensorView(DType.UINT8, Shape.of(1), Arena.ofAuto().allocate(1));
    return weft.communicator().broadcast(word, 0, named("go"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void aSilentRankIsLostToAllAndLearnsItWhenItReturns(String transport) {
    try (LocalJob job = job(transport)) {
      List<CommException> failures =
          job.run(
              weft -> {
                ProcessSet some = new ProcessSet(List.of(weft.rank() == 0 ? 0 : 1, SILENT));
                Communicator part = weft.rank() == SILENT ? null : weft.communicator(some);
                Handle<TensorView> go = standStill(weft);
                if (weft.rank() == SILENT) {
                  return excluded(weft, go);
                }
                var unused = go.await();
                return lost(weft, part);
              });
      assertThat(failures.get(0).getMessage()).startsWith(firstWords(failures.get(1)));
      int witness = ((CommException.Excluded) failures.get(SILENT)).witness();
      assertThat(witness).isIn(0, 1);
    } finally {
      released.countDown();
    }
  }

  private static String firstWords(CommException failure) {
    String message = failure.getMessage();
    return message.substring(0, message.indexOf(" for "));
  }

  /// Checks and returns the failure on a survivor.
  private CommException lost(Weft weft, Communicator part) throws Exception {
    Communicator world = weft.communicator();
    try (OwnedTensor t = OwnedTensor.allocate(DType.FLOAT32, Shape.of(100_000))) {
      CommException failure = ExpectedFailures.of(sum(world, t, "weights"));
      assertThat(failure)
          .isInstanceOf(CommException.PeerLost.class)
          .hasMessageContaining("rank 2 on ")
          .hasMessageContaining("is lost: no sign of life for ")
          .hasMessageContaining("(limit 3.0 s, --silence-limit)")
          .hasMessageContaining("allreduce 'weights' (FLOAT32[100000] SUM by ring) for ")
          .hasMessageContaining("stage 0");
      assertThat(((CommException.PeerLost) failure).rank()).isEqualTo(SILENT);
      assertThat(ExpectedFailures.of(sum(world, t, "later"))).hasMessage(failure.getMessage());
      assertThat(ExpectedFailures.of(part.barrier(named("of two"))))
          .isInstanceOf(CommException.PeerLost.class)
          .hasMessageStartingWith(firstWords(failure));
      try (Communicator late = weft.communicator(ProcessSet.world(3))) {
        assertThat(ExpectedFailures.of(late.barrier(named("made later"))))
            .isInstanceOf(CommException.PeerLost.class)
            .hasMessageStartingWith(firstWords(failure));
      }
      try (Communicator survivors = weft.communicator(new ProcessSet(List.of(0, 1)))) {
        var sum = sum(survivors, t, "go on").await();
        assertThat(sum.dtype()).isEqualTo(DType.FLOAT32);
      }
      released.countDown();
      return failure;
    }
  }

  /// Checks and returns the failure on the silent rank.
  private CommException excluded(Weft weft, Handle<TensorView> go) throws Exception {
    await(released);
    var unused = go.await();
    CommException failure = ExpectedFailures.of(weft.communicator().barrier(named("back")));
    assertThat(failure)
        .isInstanceOf(CommException.Excluded.class)
        .hasMessageContaining("this rank, was given up by rank ")
        .hasMessageContaining("--silence-limit")
        .hasMessageContaining("it last stood still for ");
    assertThat(
            ExpectedFailures.of(
                weft.communicator(new ProcessSet(List.of(2))).barrier(named("alone"))))
        .hasMessage(failure.getMessage());
    return failure;
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void aSilentRankDelaysTheCloseOfOthersBriefly(String transport) {
    WeftConfig config =
        WeftConfig.builder().transport(transport).silenceLimit(Duration.ZERO).build();
    CountDownLatch gone = new CountDownLatch(2);
    try (LocalJob job = LocalJob.start(3, config)) {
      job.run(
          weft -> {
            Handle<TensorView> go = standStill(weft);
            if (weft.rank() == SILENT) {
              return true;
            }
            var unused = go.await();
            gone.countDown();
            await(gone);
            Handle<Void> pending = weft.communicator().barrier(named("never"));
            long start = System.nanoTime();
            weft.close();
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isLessThan(Duration.ofSeconds(30));
            assertThat(ExpectedFailures.of(pending)).isInstanceOf(CommException.class);
            return true;
          });
      released.countDown();
    } finally {
      released.countDown();
    }
  }

  /// Ranks 1 and 2 are blocked. Rank 0 cannot know whether it is itself cut off.
  @Test
  void aRankThatHearsNoOtherRankGivesItselfUp() {
    CountDownLatch bothArmed = new CountDownLatch(2);
    CountDownLatch deaf = new CountDownLatch(1);
    try (LocalJob job = job("tcp")) {
      List<CommException> failures =
          job.run(
              weft -> {
                Communicator comm = weft.communicator();
                try (OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(1))) {
                  if (weft.rank() == 0) {
                    await(bothArmed);
                    var unused = comm.broadcast(t.view(), 0, named("go")).await();
                    CommException failure = ExpectedFailures.of(comm.barrier(named("after")));
                    deaf.countDown();
                    return failure;
                  }
                  // Rank 0 sends directly to both ranks, so they have nothing to send before they
                  // are blocked.
                  Handle<TensorView> go = comm.broadcast(t.view(), 0, named("go"));
                  go.whenDone((nothing, failure) -> await(deaf));
                  bothArmed.countDown();
                  await(deaf);
                  // The first barrier may complete, because rank 0 had done its part in it.
                  CommException failure = null;
                  while (failure == null) {
                    failure =
                        catchThrowableOfType(
                            CommException.class, comm.barrier(named("after"))::await);
                  }
                  return failure;
                }
              });
      assertThat(failures.getFirst())
          .isInstanceOf(CommException.Excluded.class)
          .hasMessageContaining("rank 0 on ")
          .hasMessageContaining("this rank, is cut off: no sign of life for ")
          .hasMessageContaining("from any of the 2 ranks that were left: rank ");
      assertThat(((CommException.Excluded) failures.getFirst()).witness()).isZero();
      for (CommException failure : failures.subList(1, 3)) {
        assertThat(failure)
            .isInstanceOf(CommException.PeerLost.class)
            .hasMessageStartingWith("rank 0 on ");
      }
    } finally {
      deaf.countDown();
    }
  }

  private static Handle<TensorView> sum(Communicator comm, OwnedTensor t, String name) {
    return comm.allreduce(t.view(), t.view(), ReduceOp.SUM, named(name).by("ring"));
  }
}
