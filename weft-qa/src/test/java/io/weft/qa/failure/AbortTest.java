// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.testkit.job.ExpectedFailures;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class AbortTest {

  private static CommException cause() {
    return new CommException.Setup("disk full", null);
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void manyCallersOfAbortCauseOneFailurePerRank(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      List<CommException> failures =
          job.run(
              weft -> {
                Communicator comm = weft.communicator();
                CommException before = ExpectedFailures.of(abortFromManyThreads(comm));
                assertThat(ExpectedFailures.of(comm.barrier(named("after"))))
                    .hasMessage(before.getMessage())
                    .hasSameClassAs(before);
                return before;
              });
      assertThat(failures)
          .allSatisfy(
              failure -> {
                assertThat(failure)
                    .isInstanceOf(CommException.Aborted.class)
                    .hasMessageContaining("disk full");
                int culprit = ((CommException.Aborted) failure).culprit();
                assertThat(failure).hasMessageStartingWith("rank " + culprit + " on ");
              });
    }
  }

  private static Handle<Void> abortFromManyThreads(Communicator comm) throws InterruptedException {
    Handle<Void> pending =
        comm.barrier(named("alone" + comm.rank()).within(Duration.ofSeconds(50)));
    CountDownLatch go = new CountDownLatch(1);
    List<Thread> threads =
        IntStream.range(0, 8)
            .mapToObj(
                i ->
                    Thread.ofPlatform()
                        .start(
                            () -> {
                              try {
                                go.await();
                              } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                              }
                              comm.abort(cause());
                            }))
            .toList();
    go.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    return pending;
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void abortWorksFromACallbackOnTheProgressThread(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      List<CommException> failures =
          job.run(
              weft -> {
                Communicator comm = weft.communicator();
                if (weft.rank() == 0) {
                  comm.barrier(named("first")).whenDone((nothing, failure) -> comm.abort(cause()));
                } else {
                  comm.barrier(named("first")).whenDone((nothing, failure) -> {});
                }
                return ExpectedFailures.of(
                    comm.barrier(named(weft.rank() == 0 ? "mine" : "yours")));
              });
      assertThat(failures)
          .allSatisfy(
              failure ->
                  assertThat(failure)
                      .isInstanceOf(CommException.Aborted.class)
                      .hasMessageStartingWith("rank 0 on ")
                      .hasMessageContaining("disk full"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void idleRanksAreNotifiedOnceOfAFailureAndNotOfTheirClose(String transport) {
    Queue<CommException> all = new ConcurrentLinkedQueue<>();
    try (LocalJob job = LocalJob.over(transport, 3)) {
      List<CommException> told =
          job.run(
              weft -> {
                var first = new CompletableFuture<CommException>();
                weft.onFailure(all::add);
                weft.onFailure(first::complete);
                if (weft.rank() == 1) {
                  weft.communicator().abort(cause());
                }
                CommException failure = first.get(50, TimeUnit.SECONDS);
                var late = new CompletableFuture<CommException>();
                weft.onFailure(late::complete);
                assertThat(late.get(50, TimeUnit.SECONDS)).hasMessage(failure.getMessage());
                return failure;
              });
      assertThat(told)
          .allSatisfy(
              failure ->
                  assertThat(failure)
                      .isInstanceOf(CommException.Aborted.class)
                      .hasMessageStartingWith("rank 1 on ")
                      .hasMessageContaining("disk full"));
    }
    assertThat(all).hasSize(3);
    Queue<CommException> closed = new ConcurrentLinkedQueue<>();
    try (LocalJob job = LocalJob.over(transport, 1)) {
      job.ranks().getFirst().onFailure(closed::add);
    }
    assertThat(closed).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void abortAfterTheEndOfTheJobDoesNothing(String transport) throws Exception {
    Weft weft;
    try (LocalJob job = LocalJob.over(transport, 2)) {
      weft = job.ranks().getFirst();
    }
    weft.communicator().abort(cause());
    assertThat(ExpectedFailures.of(weft.communicator().barrier(named("late")))).isNotNull();
  }

  /// Rank 1 has a long deadline, and rank 0 notifies it.
  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void thePassedDeadlineOfOneRankIsTheSameFailureOnAllRanks(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      List<CommException> failures =
          job.run(
              weft -> {
                if (weft.rank() == 2) {
                  return cause();
                }
                Duration limit = Duration.ofMillis(weft.rank() == 0 ? 800 : 50_000);
                return ExpectedFailures.of(weft.communicator().barrier(named("b").within(limit)));
              });
      for (CommException failure : failures.subList(0, 2)) {
        assertThat(failure)
            .isInstanceOf(CommException.Aborted.class)
            .hasMessageStartingWith("rank 0 on ")
            .hasMessageContaining("barrier 'b'")
            .hasMessageContaining("rank 2 on ");
        assertThat(((CommException.Aborted) failure).culprit()).isEqualTo(2);
        assertThat(failure.getCause()).isInstanceOf(CommException.TimedOut.class);
        assertThat(((CommException.TimedOut) failure.getCause()).missing()).contains(2);
      }
      assertThat(failures.get(1)).hasMessageContaining("; said by rank 0 on ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void aProgressThreadThatDiesReportsItsCauseToAllRanks(String transport) {
    BrittleProvider brittle = BrittleProvider.of(transport);
    CyclicBarrier gone = new CyclicBarrier(3);
    try (LocalJob job = brittle.job(3)) {
      List<CommException> failures =
          job.run(
              weft -> {
                Communicator comm = weft.communicator();
                comm.barrier(named("go")).await();
                gone.await();
                brittle.victim().set(1);
                return ExpectedFailures.of(comm.barrier(named(weft.rank() == 1 ? "own" : "next")));
              });
      assertThat(failures.get(1))
          .isInstanceOf(CommException.Aborted.class)
          .hasMessageContaining("rehearsed defect");
      for (CommException failure : List.of(failures.get(0), failures.get(2))) {
        assertThat(failure)
            .isInstanceOf(CommException.PeerLost.class)
            .hasMessageStartingWith("rank 1 on ")
            .hasMessageContaining("its progress thread has died of")
            .hasMessageContaining("rehearsed defect");
      }
    }
  }
}
