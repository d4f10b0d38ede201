// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
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
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class CommunicatorFailureTest {

  private static OwnedTensor floats(long... dims) {
    return OwnedTensor.allocate(DType.FLOAT32, Shape.of(dims));
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void differentShapesFailOnAllRanksAndBothAreNamed(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      List<String> messages =
          job.run(
              weft -> {
                long rows = weft.rank() == 1 ? 4 : 3;
                try (OwnedTensor t = floats(rows, 5)) {
                  CommException e = ExpectedFailures.of(sum(weft.communicator(), t.view(), "g"));
                  assertThat(e).isInstanceOf(CommException.Mismatch.class);
                  return e.getMessage();
                }
              });
      assertThat(messages)
          .allSatisfy(
              m ->
                  assertThat(m)
                      .contains("'g'")
                      .contains("FLOAT32[3, 5]")
                      .contains("FLOAT32[4, 5]")
                      .contains("rank 1"));
      job.run(CommunicatorFailureTest::worksOn);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aLargeMismatchLeavesTheCommunicatorUsable(String transport) {
    try (LocalJob job = LocalJob.over(transport, 4)) {
      job.run(
          weft -> {
            long rows = weft.rank() == 2 ? 300_000 : 400_000;
            try (OwnedTensor t = floats(rows)) {
              CommException e = ExpectedFailures.of(sum(weft.communicator(), t.view(), "big"));
              assertThat(e).isInstanceOf(CommException.Mismatch.class);
            }
            return worksOn(weft);
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aRootLearnsThatOtherRanksExpectAnotherTensor(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            try (OwnedTensor t = floats(weft.rank() == 0 ? 8 : 9)) {
              CommException e =
                  ExpectedFailures.of(weft.communicator().broadcast(t.view(), 0, named("b")));
              assertThat(e)
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContaining("FLOAT32[8]")
                  .hasMessageContaining("FLOAT32[9]");
              return DType.FLOAT32;
            }
          });
      job.run(CommunicatorFailureTest::worksOn);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aRankReportsItsSubmissionAfterItsCompletion(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      var completed = new CountDownLatch(1);
      job.run(
          weft -> {
            Communicator comm = weft.communicator();
            try (OwnedTensor t = floats(weft.rank() == 2 ? 9 : 8)) {
              if (weft.rank() == 1) {
                var unused = comm.broadcast(t.view(), 0, named("b")).await();
                completed.countDown();
                return true;
              }
              if (weft.rank() == 2) {
                completed.await();
              }
              int root = weft.rank() == 2 ? 1 : 0; // rank 2 expects the tensor from rank 1
              CommException e = ExpectedFailures.of(comm.broadcast(t.view(), root, named("b")));
              assertThat(e)
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContaining("FLOAT32[8]")
                  .hasMessageContaining("FLOAT32[9]");
              return true;
            }
          });
      job.run(CommunicatorFailureTest::worksOn);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aSilentRankIsNamedOnAllRanksAtTheDeadline(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      List<String> messages =
          job.run(
              weft -> {
                if (weft.rank() == 2) {
                  return "silent";
                }
                try (OwnedTensor t = floats(1000, 1000)) {
                  var options = named("w1").within(Duration.ofMillis(800));
                  CommException e =
                      ExpectedFailures.of(
                          weft.communicator().allreduce(t.view(), t.view(), ReduceOp.SUM, options));
                  assertThat(e).isInstanceOf(CommException.Aborted.class);
                  return e.getMessage();
                }
              });
      assertThat(messages.subList(0, 2))
          .allSatisfy(
              m ->
                  assertThat(m)
                      .contains("'w1'")
                      .contains("FLOAT32[1000, 1000]")
                      .contains("rank 2")
                      .contains("has not submitted it"));
      List<String> later =
          job.run(
              weft -> {
                try (OwnedTensor t = floats(2)) {
                  return ExpectedFailures.of(sum(weft.communicator(), t.view(), "later"))
                      .getMessage();
                }
              });
      assertThat(later).allSatisfy(m -> assertThat(m).contains("'w1'").contains("rank 2"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aRankThatLeavesFailsTheOperationsThatWaitForIt(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      List<String> messages =
          job.run(
              weft -> {
                if (weft.rank() == 1) {
                  weft.close();
                  return "left";
                }
                try (OwnedTensor t = floats(100)) {
                  CommException e = ExpectedFailures.of(sum(weft.communicator(), t.view(), "g"));
                  assertThat(e).isInstanceOf(CommException.PeerLost.class);
                  assertThat(((CommException.PeerLost) e).rank()).isEqualTo(1);
                  return e.getMessage();
                }
              });
      assertThat(List.of(messages.get(0), messages.get(2)))
          .allSatisfy(m -> assertThat(m).contains("rank 1"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void abortReachesAllRanksAndIsIdempotent(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      List<String> messages =
          job.run(
              weft -> {
                Communicator comm = weft.communicator();
                try (OwnedTensor t = floats(100)) {
                  if (weft.rank() == 0) {
                    comm.abort(new CommException.Setup("disk full", null));
                    comm.abort(new CommException.Setup("disk full", null));
                  }
                  return ExpectedFailures.of(sum(comm, t.view(), "g")).getMessage();
                }
              });
      assertThat(messages).allSatisfy(m -> assertThat(m).contains("rank 0").contains("disk full"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aSoftTimeoutLeavesTheOperationRunning(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            Communicator comm = weft.communicator();
            try (OwnedTensor t = floats(10)) {
              if (weft.rank() == 0) {
                Handle<TensorView> handle = sum(comm, t.view(), "slow");
                assertThatThrownBy(() -> handle.await(Duration.ofMillis(50)))
                    .isInstanceOf(CommException.TimedOut.class)
                    .hasMessageContaining("'slow'");
                var unused = comm.barrier(named("now")).await();
                return handle.await().dtype();
              }
              var unused = comm.barrier(named("now")).await();
              return sum(comm, t.view(), "slow").await().dtype();
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void anOperationOfOneRankDoesNotDelayOtherOperations(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      var begun = new CountDownLatch(1);
      job.run(
          weft -> {
            Communicator comm = weft.communicator();
            try (OwnedTensor t = floats(10)) {
              if (weft.rank() == 0) {
                // This first operation of all begins before rank 0 knows rank 1's memory.
                Handle<TensorView> first = sum(comm, t.view(), "first");
                assertThatThrownBy(() -> first.await(Duration.ofMillis(50)))
                    .isInstanceOf(CommException.TimedOut.class);
                begun.countDown();
                var unused = comm.barrier(named("second")).await();
                return first.await().dtype();
              }
              begun.await();
              var unused = comm.barrier(named("second")).await();
              return sum(comm, t.view(), "first").await().dtype();
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aNameThatIsInFlightIsRefused(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            Communicator comm = weft.communicator();
            try (OwnedTensor t = floats(10);
                OwnedTensor u = floats(10)) {
              if (weft.rank() == 0) {
                Handle<TensorView> first = sum(comm, t.view(), "twice");
                assertThatThrownBy(() -> sum(comm, u.view(), "twice"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("'twice'");
                var unused = comm.barrier(named("go")).await();
                return first.await().dtype();
              }
              var unused = comm.barrier(named("go")).await();
              return sum(comm, t.view(), "twice").await().dtype();
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void closingACommunicatorFailsItsPendingOperations(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      Weft weft = job.ranks().getFirst();
      try (OwnedTensor t = floats(10)) {
        Handle<TensorView> pending = sum(weft.communicator(), t.view(), "never");
        weft.communicator().close();
        assertThat(ExpectedFailures.of(pending)).hasMessageContaining("closed");
      }
    }
  }

  private static Handle<TensorView> sum(Communicator comm, TensorView t, String name) {
    return comm.allreduce(t, t, ReduceOp.SUM, named(name));
  }

  private static boolean worksOn(Weft weft) throws InterruptedException {
    try (OwnedTensor t = floats(50_000)) {
      t.view().data().setAtIndex(java.lang.foreign.ValueLayout.JAVA_FLOAT, 49_999, 2f);
      var unused = sum(weft.communicator(), t.view(), "after").await();
      assertThat(t.view().data().getAtIndex(java.lang.foreign.ValueLayout.JAVA_FLOAT, 49_999))
          .isEqualTo(2f * weft.size());
    }
    return true;
  }
}
