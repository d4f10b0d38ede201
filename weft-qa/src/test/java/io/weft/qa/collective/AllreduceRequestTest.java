// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.weft.Weft;
import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.WireHook;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.DType;
import io.weft.tensor.MemoryKind;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.ExpectedFailures;
import io.weft.testkit.job.LocalJob;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.Simulation;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks allreduce requests with hooks, and groups of requests.
@Timeout(120)
class AllreduceRequestTest {

  /// Lengths for one slot, for a published tensor, and beyond a window.
  private static final List<Integer> LENGTHS = List.of(1, 3_000, 400_000);

  private static Stream<Arguments> cases() {
    return Stream.of("inproc", "tcp", "shm")
        .flatMap(t -> LENGTHS.stream().map(length -> Arguments.of(t, length)));
  }

  private static TensorView floats(Arena arena, int length, float value) {
    var tensor =
        new TensorView(DType.FLOAT32, Shape.of(length), arena.allocate(4L * length, Long.BYTES));
    for (int i = 0; i < length; i++) {
      tensor.data().setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
    }
    return tensor;
  }

  private static float[] values(TensorView tensor) {
    return tensor.data().toArray(ValueLayout.JAVA_FLOAT);
  }

  private static AllreduceRequest sum(TensorView tensor, String name) {
    return new AllreduceRequest(tensor, ReduceOp.SUM, named(name));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theHookScalesBeforeAndAfterTheWire(String transport, int length) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      job.run(
          weft -> {
            try (Arena arena = Arena.ofShared()) {
              TensorView input = floats(arena, length, weft.rank() + 1);
              TensorView output = floats(arena, length, -1);
              var request = new AllreduceRequest(input, output, ReduceOp.SUM, named("g"));
              var result =
                  weft.communicator().allreduce(request.through(WireHook.scaling(0.5, 10))).await();
              assertThat(result).isSameAs(output);
              assertThat(values(output)).containsOnly(30);
              assertThat(values(input)).containsOnly(weft.rank() + 1);
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theHookNarrowsElementsOnTheWire(String transport, int length) {
    for (DType narrow : List.of(DType.FLOAT16, DType.BFLOAT16)) {
      try (LocalJob job = LocalJob.over(transport, 2)) {
        job.run(
            weft -> {
              try (Arena arena = Arena.ofShared()) {
                TensorView tensor = floats(arena, length, 1 / 3f);
                var request = sum(tensor, "g").through(WireHook.narrowing(narrow));
                assertThat(weft.communicator().allreduce(request).await()).isSameAs(tensor);
                float third = narrow == DType.FLOAT16 ? 0.33325195f : 0.33398438f;
                assertThat(values(tensor)).containsOnly(2 * third);
              }
              return true;
            });
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void reducerAveragesGradientsOnAllRanks(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      job.run(
          weft -> {
            try (Arena arena = Arena.ofShared()) {
              TensorView first = floats(arena, 3_000, weft.rank());
              TensorView second = floats(arena, 10, 2 * weft.rank());
              var a = GradientReducer.ALLREDUCE.reducer(weft.communicator()).reduce("a", first);
              var b = GradientReducer.ALLREDUCE.reducer(weft.communicator()).reduce("b", second);
              assertThat(values(a.await())).containsOnly(1);
              assertThat(values(b.await())).containsOnly(2);
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void elementTypesOnTheWireMustAgree(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            try (Arena arena = Arena.ofShared()) {
              WireHook hook = weft.rank() == 0 ? WireHook.NONE : WireHook.narrowing(DType.BFLOAT16);
              TensorView tensor = floats(arena, 10, 1);
              CommException failure =
                  ExpectedFailures.of(
                      weft.communicator().allreduce(sum(tensor, "g").through(hook)));
              assertThat(failure)
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContaining("'g'")
                  .hasMessageContaining("BFLOAT16[10]");
            }
            return true;
          });
    }
  }

  private static final class Throwing implements WireHook {
    @Override
    public DType wireType(DType own) {
      return own == DType.FLOAT32 ? DType.BFLOAT16 : own;
    }

    @Override
    public void copyIn(TensorView input, TensorView wire) {
      if (input.shape().elements() == 7) {
        throw new IllegalArgumentException("seven elements");
      }
    }

    @Override
    public void copyOut(TensorView wire, TensorView output) {
      throw new IllegalStateException("no way out");
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aHookThatThrowsFailsItsOperationOnly(String transport, int length) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            try (Arena arena = Arena.ofShared()) {
              TensorView tensor = floats(arena, length, 1);
              CommException failure =
                  ExpectedFailures.of(
                      weft.communicator().allreduce(sum(tensor, "g").through(new Throwing())));
              assertThat(failure)
                  .isInstanceOf(CommException.Broken.class)
                  .hasMessageContaining("'g'")
                  .hasMessageContaining("no way out");
              TensorView seven = floats(arena, 7, 1);
              assertThatIllegalArgumentException()
                  .isThrownBy(
                      () -> weft.communicator().allreduce(sum(seven, "g").through(new Throwing())))
                  .withMessage("seven elements");
              weft.communicator().allreduce(sum(seven, "g")).await();
              assertThat(values(seven)).containsOnly(2);
            }
            return true;
          });
    }
  }

  private static List<TensorView> several(Arena arena, int rank) {
    return IntStream.range(0, 30)
        .mapToObj(i -> floats(arena, LENGTHS.get(i % 3) / (i + 1) + 1, rank + i))
        .toList();
  }

  private static List<AllreduceRequest> requests(List<TensorView> tensors) {
    return IntStream.range(0, tensors.size()).mapToObj(i -> sum(tensors.get(i), "g" + i)).toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aGroupCompletesWithAllOutputsInOrder(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      job.run(
          weft -> {
            try (Arena arena = Arena.ofShared()) {
              for (int round = 0; round < 3; round++) {
                List<TensorView> tensors = several(arena, weft.rank());
                Handle<List<TensorView>> handle =
                    weft.communicator().allreduceAll(requests(tensors));
                List<TensorView> results =
                    round == 1
                        ? handle.toCompletableFuture().get(60, TimeUnit.SECONDS)
                        : handle.await();
                assertThat(handle.isDone()).isTrue();
                assertThat(results).containsExactlyElementsOf(tensors);
                for (int i = 0; i < tensors.size(); i++) {
                  assertThat(values(tensors.get(i))).as("%d", i).containsOnly(3 + 3 * i);
                }
              }
              assertThat(weft.communicator().allreduceAll(List.of()).await()).isEmpty();
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aFailedGroupNamesTheTensorOnWhichRanksDisagree(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            try (Arena arena = Arena.ofShared()) {
              List<AllreduceRequest> requests =
                  new ArrayList<>(requests(several(arena, weft.rank())));
              requests.set(11, sum(floats(arena, 5 + weft.rank(), 1), "g11"));
              Handle<List<TensorView>> handle = weft.communicator().allreduceAll(requests);
              assertThat(ExpectedFailures.of(handle))
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContaining("'g11'");
              assertThat(values(requests.get(12).output())).containsOnly(25);
              assertThat(failure(handle)).hasMessageContaining("'g11'");
            }
            return true;
          });
    }
  }

  private static Throwable failure(Handle<?> handle) throws Exception {
    try {
      return new AssertionError(
          "succeeded: " + handle.toCompletableFuture().get(10, TimeUnit.SECONDS));
    } catch (ExecutionException failed) {
      return failed.getCause();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aRefusedGroupSubmitsNoOperation(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            try (Arena arena = Arena.ofShared()) {
              List<AllreduceRequest> requests =
                  new ArrayList<>(requests(several(arena, weft.rank())));
              AllreduceRequest last = requests.removeLast();
              requests.add(requests.getFirst());
              assertThatIllegalStateException()
                  .isThrownBy(() -> weft.communicator().allreduceAll(requests))
                  .withMessageContaining("'g0'");
              requests.set(
                  29,
                  new AllreduceRequest(
                      last.input(), ReduceOp.SUM, named("g29").by("no such algorithm")));
              assertThatIllegalArgumentException()
                  .isThrownBy(() -> weft.communicator().allreduceAll(requests))
                  .withMessageContaining("no such algorithm");
              requests.set(29, last);
              weft.communicator().allreduceAll(requests).await();
              assertThat(values(last.output())).containsOnly(59);
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aGroupFailsAtTheDeadlineOfItsMissingTensor(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            try (Arena arena = Arena.ofShared()) {
              CollectiveOptions missing = named("missing").within(Duration.ofSeconds(2));
              List<AllreduceRequest> requests = new ArrayList<>();
              requests.add(sum(floats(arena, 5, 1), "there"));
              if (weft.rank() == 0) {
                requests.add(new AllreduceRequest(floats(arena, 5, 1), ReduceOp.SUM, missing));
              }
              Handle<List<TensorView>> handle = weft.communicator().allreduceAll(requests);
              if (weft.rank() == 1) {
                handle.await();
              } else {
                softly(handle);
                assertThat(ExpectedFailures.of(handle))
                    .hasMessageContaining("'missing'")
                    .hasMessageContaining("rank 1");
              }
              return weft.communicator();
            }
          });
    }
  }

  /** Waits softly until only {@code missing} is missing; the deadline of the handle ends it. */
  private static void softly(Handle<?> handle) throws InterruptedException {
    String message;
    do {
      try {
        throw new AssertionError("succeeded: " + handle.await(Duration.ofMillis(20)));
      } catch (CommException.TimedOut soft) {
        message = soft.getMessage();
      }
    } while (message.contains("'there'"));
    assertThat(message).contains("'missing'").contains("after 20 ms");
  }

  @Test
  void deviceMemoryIsRefused() {
    try (LocalJob job = LocalJob.over("inproc", 1);
        OwnedTensor host = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4))) {
      TensorView view = host.view();
      var device = new TensorView(view.dtype(), view.shape(), view.data(), MemoryKind.DEVICE);
      Weft weft = job.ranks().getFirst();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> weft.communicator().allreduce(sum(device, "g")))
          .withMessageContaining("'g'")
          .withMessageContaining("DEVICE memory");
    }
  }

  @Test
  void groupsWithHooksRunInTheSimulator() throws InterruptedException {
    SimReport<Integer> report =
        Simulation.of(5)
            .hosts(2)
            .run(
                weft -> {
                  try (Arena arena = Arena.ofShared()) {
                    List<TensorView> tensors = several(arena, weft.rank());
                    List<AllreduceRequest> requests =
                        requests(tensors).stream()
                            .map(r -> r.through(WireHook.scaling(1, 0.5)))
                            .toList();
                    weft.communicator().allreduceAll(requests).await();
                    int wrong = 0;
                    for (int i = 0; i < tensors.size(); i++) {
                      for (float value : values(tensors.get(i))) {
                        wrong += value == (10 + 5 * i) / 2f ? 0 : 1;
                      }
                    }
                    return wrong;
                  }
                });
    assertThat(report.values()).containsOnly(0);
  }
}
