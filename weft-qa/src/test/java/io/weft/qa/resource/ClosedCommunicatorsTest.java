// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.resource;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.ProcessSet;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ClosedCommunicatorsTest {

  /// The names below would exceed this if they were all kept.
  private static final long SLACK_BYTES = 4 << 20;

  private static final String LONG = "x".repeat(400);

  private static LocalJob job(int size) {
    return LocalJob.start(size, WeftConfig.builder().transport("tcp").build());
  }

  @Test
  void aThousandCommunicatorsLeaveNoResources() {
    try (LocalJob job = job(3)) {
      job.run(weft -> useAndClose(weft, 20));
      Resources before = Resources.now();
      job.run(weft -> useAndClose(weft, 1000));
      Resources.assertNoMoreThan(before, SLACK_BYTES);
    }
  }

  /// Combined segments return credits, which may arrive after the close.
  private static boolean useAndClose(Weft weft, int count) throws InterruptedException {
    try (OwnedTensor t = OwnedTensor.allocate(DType.FLOAT32, Shape.of(40_000))) {
      for (int c = 0; c < count; c++) {
        try (Communicator comm = weft.communicator(new ProcessSet(List.of(2, 0, 1)))) {
          t.view().data().setAtIndex(ValueLayout.JAVA_FLOAT, 39_999, weft.rank() + 1f);
          for (int i = 0; i < 3; i++) {
            var handle = comm.barrier(named(i + LONG + c));
            var unused = handle.await();
          }
          var sum = comm.allreduce(t.view(), t.view(), ReduceOp.SUM, named(c + LONG).by("ring"));
          var unused = sum.await();
          assertThat(t.view().data().getAtIndex(ValueLayout.JAVA_FLOAT, 39_999)).isEqualTo(6f);
        }
      }
    }
    return true;
  }

  @Test
  void messagesForClosedCommunicatorsAreDiscarded() {
    try (LocalJob job = job(2)) {
      job.run(weft -> closeEarly(weft, 5));
      Resources before = Resources.now();
      job.run(weft -> closeEarly(weft, 200));
      Resources.assertNoMoreThan(before, SLACK_BYTES);
    }
  }

  /// Rank 0 closes each communicator at once, and rank 1 then sends to it, 200 times 64 KB.
  private static boolean closeEarly(Weft weft, int count) throws InterruptedException {
    try (OwnedTensor t = OwnedTensor.allocate(DType.UINT8, Shape.of(8_000))) {
      for (int c = 0; c < count; c++) {
        Communicator comm = weft.communicator(new ProcessSet(List.of(1, 0)));
        if (weft.rank() == 0) {
          comm.close();
        }
        barrier(weft, "closed" + c % 2);
        if (weft.rank() == 1) {
          for (int i = 0; i < 8; i++) {
            var unheard = comm.broadcast(t.view(), 0, named("late" + i));
            assertThat(unheard.isDone()).isFalse();
          }
        }
        barrier(weft, "sent" + c % 2);
        comm.close();
      }
    }
    return true;
  }

  private static void barrier(Weft weft, String name) throws InterruptedException {
    var handle = weft.communicator().barrier(named(name));
    var unused = handle.await();
  }

  @Test
  void aMemberThatClosedTheCommunicatorIsNamedAtTheDeadline() {
    try (LocalJob job = job(2)) {
      List<String> messages =
          job.run(
              weft -> {
                Communicator comm = weft.communicator(new ProcessSet(List.of(0, 1)));
                if (weft.rank() == 1) {
                  comm.close();
                  return "";
                }
                var options = named("alone").within(Duration.ofMillis(600));
                CommException e =
                    catchThrowableOfType(CommException.class, () -> comm.barrier(options).await());
                return e.getMessage();
              });
      assertThat(messages.getFirst())
          .contains("'alone'")
          .contains("rank 1")
          .contains("has closed this communicator");
    }
  }

  @Test
  void communicatorsOfOneSetDoNotMixAfterSomeWereClosed() {
    try (LocalJob job = job(2)) {
      List<Integer> sums =
          job.run(
              weft -> {
                var set = new ProcessSet(List.of(0, 1));
                weft.communicator(set).close();
                try (Communicator second = weft.communicator(set);
                    OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(1))) {
                  t.view().data().set(ValueLayout.JAVA_INT, 0, 5 + weft.rank());
                  weft.communicator(set).close();
                  var sum = second.allreduce(t.view(), t.view(), ReduceOp.SUM, named("s")).await();
                  return sum.data().get(ValueLayout.JAVA_INT, 0);
                }
              });
      assertThat(sums).containsExactly(11, 11);
    }
  }

  @Test
  void operationsAfterTheEndOfTheJobFailAtOnce() {
    Weft weft;
    Communicator comm;
    try (LocalJob job = job(2)) {
      weft = job.ranks().getFirst();
      comm = weft.communicator(new ProcessSet(List.of(0)));
    }
    for (Communicator after : List.of(weft.communicator(), comm)) {
      assertThatThrownBy(() -> after.barrier(named("late")).await(Duration.ofSeconds(20)))
          // Depends on which came first: the other rank's good-bye or the end of this rank.
          .isInstanceOfAny(CommException.Aborted.class, CommException.PeerLost.class);
      after.abort(new CommException.Setup("too late", null));
      after.close();
    }
    assertThatThrownBy(
            () ->
                weft.communicator(new ProcessSet(List.of(0)))
                    .barrier(named("later"))
                    .await(Duration.ofSeconds(20)))
        .isInstanceOf(CommException.Aborted.class);
  }
}
