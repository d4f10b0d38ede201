// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.ProcessSet;
import io.weft.cluster.elastic.ShrinkQuorum;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class ShrinkTest {

  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static MortalJob job(String transport, int size) throws Exception {
    return new MortalJob(size, WeftConfig.builder().transport(transport).build());
  }

  /// Sums `value` of all ranks under this name and checks that all elements are equal.
  private static float sum(Communicator comm, String name, int elements, float value)
      throws InterruptedException {
    try (OwnedTensor tensor = filled(elements, value)) {
      TensorView view = tensor.view();
      var unused = comm.allreduce(view, view, ReduceOp.SUM, named(name)).await();
      return only(view);
    }
  }

  private static OwnedTensor filled(int elements, float value) {
    OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements));
    for (int i = 0; i < elements; i++) {
      tensor.view().data().setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
    }
    return tensor;
  }

  private static float only(TensorView view) {
    float first = view.data().getAtIndex(ValueLayout.JAVA_FLOAT, 0);
    for (long i = 1; i < view.shape().elements(); i++) {
      assertThat(view.data().getAtIndex(ValueLayout.JAVA_FLOAT, i)).isEqualTo(first);
    }
    return first;
  }

  /// Uses the communicator until an operation fails.
  private static CommException failureOf(Communicator comm, int elements) {
    return catchThrowableOfType(
        CommException.class,
        () -> {
          while (true) {
            sum(comm, "until it fails", elements, 1);
          }
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void survivorsContinueWithConsecutiveRanks(String transport) throws Exception {
    try (MortalJob job = job(transport, 4)) {
      for (int lost : List.of(2, 0)) {
        List<Integer> before = job.rank(1).members().ranks();
        long epoch = job.rank(1).epoch();
        Future<CommException> last =
            job.start(lost, weft -> failureOf(weft.communicator(), 100_000));
        job.kill(lost);
        List<Float> sums =
            job.run(
                weft -> {
                  Communicator old = weft.communicator();
                  assertThat(failureOf(old, 100_000)).isNotNull();
                  Communicator comm = weft.shrink(LIMIT);
                  assertThat(comm).isSameAs(weft.communicator()).isNotSameAs(old);
                  assertThat(weft.epoch()).isEqualTo(epoch + 1);
                  assertThat(weft.members().ranks())
                      .isEqualTo(before.stream().filter(rank -> rank != lost).toList());
                  assertThat(comm.size()).isEqualTo(before.size() - 1);
                  assertThat(comm.rank()).isEqualTo(weft.members().rankOf(weft.rank()));
                  assertThatThrownBy(() -> sum(old, "old", 1, 1)).isInstanceOf(CommException.class);
                  assertThatThrownBy(() -> weft.communicator(new ProcessSet(before)))
                      .isInstanceOf(IllegalArgumentException.class)
                      .hasMessageContaining("rank " + lost);
                  return sum(comm, "until it fails", 100_000, 1 + comm.rank());
                });
        float expected = (before.size() - 1) * before.size() / 2f;
        assertThat(sums).hasSize(before.size() - 1).containsOnly(expected);
        assertThat(last.get()).isNotNull();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aRankThatShrinksFailsTheOperationsOfTheOthers(String transport) throws Exception {
    try (MortalJob job = job(transport, 3)) {
      List<String> messages =
          job.run(
              weft -> {
                String message = "";
                if (weft.rank() != 1) {
                  message = failureOf(weft.communicator(), 10).getMessage();
                }
                Communicator comm = weft.shrink(LIMIT);
                assertThat(comm.size()).isEqualTo(3);
                assertThat(sum(comm, "g", 10, 1)).isEqualTo(3);
                return message;
              });
      assertThat(List.of(messages.get(0), messages.get(2)))
          .allSatisfy(
              m ->
                  assertThat(m)
                      .contains("continues with the remaining ranks")
                      .contains("call Weft.shrink on this rank too"));
    }
  }

  /// Every epoch uses the same names and leaves operations unfinished that only some ranks have
  /// submitted. A frame of a previous epoch would change a sum.
  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void noFrameOfAnEpochReachesTheNextEpoch(String transport) throws Exception {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    int epochs = 25;
    try (MortalJob job = job(transport, 3)) {
      job.run(
          weft -> {
            Random random = new Random(seed * 31 + weft.rank());
            while (weft.epoch() < epochs) {
              int epoch = (int) weft.epoch();
              String where = "-Dweft.test.seed=" + seed + " epoch " + epoch;
              // One rank awaits nothing: its shrink ends the operations that the others wait for.
              boolean waits = weft.rank() != epoch % 3 && random.nextBoolean();
              epoch(weft.communicator(), epoch, random, waits, where);
              weft.shrink(LIMIT);
            }
            assertThat(weft.epoch()).isEqualTo(epochs);
            assertThat(sum(weft.communicator(), "small", 3, epochs)).isEqualTo(3 * epochs);
            assertThat(sum(weft.communicator(), "large", 50_000, epochs)).isEqualTo(3 * epochs);
            return true;
          });
    }
  }

  private static void epoch(
      Communicator comm, int epoch, Random random, boolean waits, String where) {
    List<OwnedTensor> tensors = new ArrayList<>();
    List<Handle<TensorView>> handles = new ArrayList<>();
    String[] names = {"small", "large", "other"};
    for (int i = 0; i < names.length; i++) {
      if (random.nextInt(3) > 0) {
        OwnedTensor tensor = filled(i == 1 ? 50_000 : 3, epoch);
        tensors.add(tensor);
        TensorView view = tensor.view();
        handles.add(comm.allreduce(view, view, ReduceOp.SUM, named(names[i])));
      }
    }
    if (waits && !handles.isEmpty()) {
      try {
        assertThat(only(handles.getFirst().await())).as(where).isEqualTo(3f * epoch);
      } catch (CommException revoked) {
        assertThat(revoked).as(where).isInstanceOf(CommException.Aborted.class);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    comm.close();
    for (int i = 0; i < handles.size(); i++) {
      Handle<TensorView> handle = handles.get(i);
      CommException failure = catchThrowableOfType(CommException.class, handle::await);
      if (failure == null) {
        assertThat(only(tensors.get(i).view())).as(where).isEqualTo(3f * epoch);
      }
      tensors.get(i).close();
    }
  }

  @Test
  void aRankThatDoesNotShrinkIsNamedAndMayShrinkLater() throws Exception {
    try (MortalJob job = job("tcp", 3)) {
      for (int rank : List.of(0, 1)) {
        CommException.TimedOut late =
            job.start(
                    rank,
                    weft ->
                        catchThrowableOfType(
                            CommException.TimedOut.class,
                            () -> weft.shrink(Duration.ofMillis(300))))
                .get();
        assertThat(late.missing()).contains(2);
        assertThat(late).hasMessageContaining("waited 300 ms for").hasMessageContaining("rank 2");
      }
      List<Float> sums = job.run(weft -> sum(weft.shrink(LIMIT), "g", 5, 2));
      assertThat(sums).containsExactly(6f, 6f, 6f);
    }
  }

  @Test
  void tooFewRanksCannotContinue() throws Exception {
    try (MortalJob job = job("inproc", 4)) {
      job.kill(0);
      job.kill(2);
      List<String> messages =
          job.run(
              weft -> {
                assertThat(failureOf(weft.communicator(), 10)).isNotNull();
                return catchThrowableOfType(
                        CommException.Aborted.class, () -> shrinkUntilItFails(weft))
                    .getMessage();
              });
      assertThat(messages)
          .allSatisfy(
              m ->
                  assertThat(m)
                      .contains("of the 4 ranks")
                      .contains("only [1, 3] are left")
                      .contains("--shrink-quorum any"));
    }
  }

  /// A survivor may notice one of the losses only after the agreement on the other one.
  private static void shrinkUntilItFails(Weft weft) throws InterruptedException {
    while (true) {
      Communicator comm = weft.shrink(LIMIT);
      assertThat(failureOf(comm, 10)).isNotNull();
    }
  }

  @Test
  void theLastRankContinuesWithQuorumAny() throws Exception {
    WeftConfig any = WeftConfig.builder().transport("tcp").shrinkQuorum(ShrinkQuorum.ANY).build();
    try (MortalJob job = new MortalJob(2, any)) {
      job.kill(0);
      assertThat(failureOf(job.rank(1).communicator(), 10)).isNotNull();
      Communicator alone = job.rank(1).shrink(LIMIT);
      assertThat(alone.size()).isEqualTo(1);
      assertThat(sum(alone, "g", 20_000, 7)).isEqualTo(7);
      assertThat(job.rank(1).members().ranks()).containsExactly(1);
    }
  }

  @Test
  void survivorsDoNotWaitForARankThatLeftInOrder() throws Exception {
    try (MortalJob job = job("tcp", 3)) {
      Future<Boolean> left =
          job.start(
              0,
              weft -> {
                weft.close();
                return true;
              });
      List<Future<Float>> sums =
          List.of(job.start(1, ShrinkTest::afterAFailure), job.start(2, ShrinkTest::afterAFailure));
      assertThat(sums.getLast().get()).isEqualTo(2);
      assertThat(sums.getFirst().get()).isEqualTo(2);
      assertThat(left.get()).isTrue();
    }
  }

  private static float afterAFailure(Weft weft) throws InterruptedException {
    assertThat(failureOf(weft.communicator(), 10)).isNotNull();
    return sum(weft.shrink(LIMIT), "g", 10, 1);
  }

  @Test
  void aRankThatHasLeftCannotShrink() throws Exception {
    try (MortalJob job = job("inproc", 1)) {
      assertThat(job.rank(0).shrink(LIMIT).size()).isEqualTo(1);
      job.rank(0).close();
      assertThatThrownBy(() -> job.rank(0).shrink(LIMIT))
          .isInstanceOf(CommException.Aborted.class)
          .hasMessageContaining("has left the job");
    }
  }
}
