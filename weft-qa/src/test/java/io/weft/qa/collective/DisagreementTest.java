// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks ranks that submit different operations under one name: for each pair of operations, short
/// and long, all ranks fail soon and the communicator remains usable.
@Timeout(240)
class DisagreementTest {

  /// Far below the operations' own deadline, and long enough for a busy machine.
  private static final Duration SOON = Duration.ofSeconds(20);

  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final int SHORT = 60;
  private static final int LONG = 60_000;

  /// An operation that a rank may submit. Each stands for a kind or for another property on which
  /// ranks may disagree: type, shape, reduction, root, algorithm.
  private enum Act {
    ALLREDUCE,
    ALLREDUCE_MAX,
    ALLREDUCE_LONGER,
    ALLREDUCE_DOUBLES,
    ALLREDUCE_BY_TREE,
    REDUCE_SCATTER,
    ALLGATHER,
    BROADCAST_FROM_0,
    BROADCAST_FROM_1,
    BROADCAST_LONGER,
    ALLTOALL,
    BARRIER;

    boolean isBroadcast() {
      return this == BROADCAST_FROM_0 || this == BROADCAST_FROM_1 || this == BROADCAST_LONGER;
    }

    int root() {
      return this == BROADCAST_FROM_1 ? 1 : 0;
    }
  }

  private static Stream<Arguments> jobs() {
    return Stream.of("inproc", "tcp", "shm")
        .flatMap(t -> IntStream.of(2, 3).mapToObj(size -> Arguments.of(t, size)));
  }

  @ParameterizedTest
  @MethodSource("jobs")
  void aDisagreementFailsOnAllRanksAndTheCommunicatorRemainsUsable(String transport, int size) {
    List<String> wrong = Collections.synchronizedList(new ArrayList<>());
    try (LocalJob job = LocalJob.over(transport, size)) {
      for (int elements : new int[] {SHORT, LONG}) {
        // All pairs run at once under different names, because ranks detect pairs in which no rank
        // sends late.
        var unused =
            job.run(
                weft -> {
                  List<Attempt> attempts = new ArrayList<>();
                  for (List<Act> acts : cases(size)) {
                    attempts.add(submit(weft, acts, elements));
                  }
                  for (Attempt attempt : attempts) {
                    attempt.judge(wrong);
                  }
                  return worksOn(weft, elements);
                });
      }
    }
    assertThat(wrong).isEmpty();
  }

  /// Returns the operations of the ranks for each case. Of three ranks, two submit the same
  /// operation or all differ.
  private static List<List<Act>> cases(int size) {
    List<List<Act>> cases = new ArrayList<>();
    Act[] acts = Act.values();
    for (int a = 0; a < acts.length; a++) {
      for (int b = 0; b < acts.length; b++) {
        if (a == b) {
          continue;
        }
        if (size == 2) {
          cases.add(List.of(acts[a], acts[b]));
        } else {
          int c = (a + b + 1) % acts.length;
          cases.add(List.of(acts[a], acts[a], acts[b]));
          cases.add(List.of(acts[b], acts[a], acts[a]));
          cases.add(List.of(acts[a], acts[b], acts[c]));
        }
      }
    }
    return cases.stream().distinct().toList();
  }

  /// The operation that one rank has submitted.
  private record Attempt(int rank, List<Act> acts, Handle<?> handle, List<OwnedTensor> tensors) {

    void judge(List<String> wrong) throws InterruptedException {
      String what = "rank " + rank + " of " + acts + ": ";
      try {
        var unused = handle.toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS);
        if (!mayComplete()) {
          wrong.add(what + "has completed");
        }
      } catch (ExecutionException e) {
        String words = String.valueOf(e.getCause().getMessage());
        if (!(e.getCause() instanceof CommException.Mismatch)
            || !words.contains("ranks disagree on '" + acts + "'")) {
          wrong.add(what + e.getCause());
        }
      } catch (java.util.concurrent.TimeoutException e) {
        wrong.add(what + "has not heard of it after " + SOON);
      }
      tensors.forEach(OwnedTensor::close);
    }

    /// Returns whether the rank may complete by the contract: in a broadcast, a rank that has
    /// received the tensor and forwards it to no rank, or to ranks that agree.
    private boolean mayComplete() {
      Act own = acts.get(rank);
      return own.isBroadcast() && rank != own.root() && acts.get(own.root()) == own;
    }
  }

  private static Attempt submit(Weft weft, List<Act> acts, int elements) {
    Act act = acts.get(weft.rank());
    Communicator comm = weft.communicator();
    List<OwnedTensor> tensors = new ArrayList<>();
    CollectiveOptions options = named(acts.toString()).within(DEADLINE);
    int length = act == Act.ALLREDUCE_LONGER || act == Act.BROADCAST_LONGER ? 2 : 1;
    DType dtype = act == Act.ALLREDUCE_DOUBLES ? DType.FLOAT64 : DType.FLOAT32;
    TensorView in = tensor(tensors, dtype, (long) length * elements);
    Handle<?> handle =
        switch (act) {
          case ALLREDUCE, ALLREDUCE_LONGER, ALLREDUCE_DOUBLES ->
              comm.allreduce(in, in, ReduceOp.SUM, options);
          case ALLREDUCE_MAX -> comm.allreduce(in, in, ReduceOp.MAX, options);
          case ALLREDUCE_BY_TREE ->
              comm.allreduce(in, in, ReduceOp.SUM, options.by("binomial-tree"));
          case REDUCE_SCATTER ->
              comm.reduceScatter(
                  in, tensor(tensors, dtype, elements / comm.size()), ReduceOp.SUM, options);
          case ALLGATHER -> comm.allgather(in, options);
          case BROADCAST_FROM_0, BROADCAST_FROM_1, BROADCAST_LONGER ->
              comm.broadcast(in, act.root(), options);
          case ALLTOALL ->
              comm.alltoall(
                  in, Collections.nCopies(comm.size(), (long) elements / comm.size()), options);
          case BARRIER -> comm.barrier(options);
        };
    return new Attempt(weft.rank(), acts, handle, tensors);
  }

  private static TensorView tensor(List<OwnedTensor> tensors, DType dtype, long elements) {
    OwnedTensor tensor = OwnedTensor.allocate(dtype, Shape.of(elements));
    tensors.add(tensor);
    return tensor.view();
  }

  private static boolean worksOn(Weft weft, int salt) throws InterruptedException {
    Communicator comm = weft.communicator();
    for (int elements : new int[] {3, LONG}) {
      try (OwnedTensor t = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
        t.view().data().setAtIndex(ValueLayout.JAVA_FLOAT, 2, 2f);
        var sum = comm.allreduce(t.view(), t.view(), ReduceOp.SUM, named("sum" + salt + elements));
        assertThat(sum.await().data().getAtIndex(ValueLayout.JAVA_FLOAT, 2))
            .isEqualTo(2f * comm.size());
        var unused = comm.broadcast(t.view(), 1, named("spread" + salt + elements)).await();
      }
    }
    var unused = comm.barrier(named("over" + salt)).await();
    return true;
  }

  /// Submits the operations in turn and awaits each at once, as programs do.
  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aDisagreementFailsOnARankThatWaitsAtOnce(String transport) {
    List<String> wrong = Collections.synchronizedList(new ArrayList<>());
    List<List<Act>> few =
        List.of(
            List.of(Act.ALLREDUCE, Act.BROADCAST_FROM_0),
            List.of(Act.BROADCAST_FROM_0, Act.BROADCAST_FROM_1),
            List.of(Act.BROADCAST_FROM_1, Act.BROADCAST_FROM_0),
            List.of(Act.BARRIER, Act.BROADCAST_FROM_0));
    try (LocalJob job = LocalJob.over(transport, 2)) {
      for (int elements : new int[] {SHORT, LONG}) {
        var unused =
            job.run(
                weft -> {
                  for (List<Act> acts : few) {
                    Attempt attempt = submit(weft, acts, elements);
                    try {
                      var none = attempt.handle().await(SOON);
                    } catch (CommException.Mismatch expected) {
                      assertThat(expected).hasMessageContaining("ranks disagree on");
                    }
                    attempt.judge(wrong);
                  }
                  return worksOn(weft, elements);
                });
      }
    }
    assertThat(wrong).isEmpty();
  }
}
