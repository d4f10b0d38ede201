// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.collective.Communicator;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks which memory a user may lend to an operation: the same memory over all transports and for
/// all lengths. Other memory is refused at submission, and nothing else fails.
@Timeout(120)
class LentMemoryTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  static Stream<Arguments> cases() {
    return Stream.of("inproc", "shm", "tcp")
        .flatMap(
            scheme ->
                Stream.of(1, 4, 3_000, 12_000, 100_000, 3_000_000)
                    .map(elements -> Arguments.of(scheme, elements)));
  }

  private static TensorView view(MemorySegment data) {
    return new TensorView(DType.FLOAT32, Shape.of(data.byteSize() / 4), data);
  }

  private static void refused(Runnable submission, String... words) {
    assertThatIllegalArgumentException()
        .isThrownBy(submission::run)
        .withMessageContaining("'tensor-x'")
        .satisfies(e -> assertThat(e.getMessage()).contains(words));
  }

  private interface Submission {
    void submit(Communicator all, TensorView bad, TensorView good);
  }

  /// Submissions that use the tested tensor as each input.
  private static final List<Submission> INPUTS =
      List.of(
          (all, bad, good) -> all.allreduce(bad, good, ReduceOp.SUM, named("tensor-x")),
          (all, bad, good) ->
              all.reduceScatter(
                  bad,
                  good.rows(0, (good.shape().elements() + 1 - all.rank()) / 2),
                  ReduceOp.SUM,
                  named("tensor-x")),
          (all, bad, _) -> all.allgather(bad, named("tensor-x")),
          (all, bad, _) ->
              all.alltoall(bad, List.of(bad.shape().elements(), 0L), named("tensor-x")));

  private static final List<Submission> OUTPUTS =
      List.of(
          (all, bad, good) -> all.allreduce(good, bad, ReduceOp.SUM, named("tensor-x")),
          (all, bad, _) -> all.allreduce(bad, bad, ReduceOp.SUM, named("tensor-x")),
          (all, bad, good) ->
              all.reduceScatter(
                  good,
                  bad.rows(0, (good.shape().elements() + 1 - all.rank()) / 2),
                  ReduceOp.SUM,
                  named("tensor-x")),
          (all, bad, _) -> all.broadcast(bad, 0, named("tensor-x")),
          (all, bad, _) -> all.broadcast(bad, 1, named("tensor-x")));

  @ParameterizedTest(name = "{0}, {1} elements")
  @MethodSource("cases")
  void memoryThatCannotBeLentIsRefusedAtOnce(String scheme, int elements) {
    try (LocalJob job = LocalJob.over(scheme, 2)) {
      var unused =
          job.run(
              weft -> {
                Communicator all = weft.communicator();
                try (Arena shared = Arena.ofShared();
                    Arena confined = Arena.ofConfined()) {
                  Arena gone = Arena.ofShared();
                  TensorView closed = view(gone.allocate(4L * elements, 4));
                  gone.close();
                  TensorView own = view(confined.allocate(4L * elements, 4));
                  TensorView good = view(shared.allocate(4L * elements, 4));
                  TensorView readOnly = view(shared.allocate(4L * elements, 4).asReadOnly());
                  for (Submission at : Stream.concat(INPUTS.stream(), OUTPUTS.stream()).toList()) {
                    refused(() -> at.submit(all, closed, good), "FLOAT32[", "closed");
                    refused(
                        () -> at.submit(all, own, good),
                        "confined",
                        "Arena.ofShared()",
                        "Arena.ofAuto()",
                        "Weft.allocate");
                  }
                  for (Submission at : OUTPUTS) {
                    refused(() -> at.submit(all, readOnly, good), "read-only");
                  }
                  good.data().fill((byte) 0);
                  return all.allreduce(good, good, ReduceOp.SUM, named("tensor-x")).await(LIMIT);
                }
              });
    }
  }

  @ParameterizedTest(name = "{0}, {1} elements")
  @MethodSource("cases")
  void inputsMayBeReadOnly(String scheme, int elements) {
    try (LocalJob job = LocalJob.over(scheme, 2)) {
      var unused =
          job.run(
              weft -> {
                Communicator all = weft.communicator();
                try (Arena shared = Arena.ofShared()) {
                  MemorySegment memory = shared.allocate(4L * elements, 4);
                  for (int i = 0; i < elements; i++) {
                    memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, 1 + weft.rank());
                  }
                  TensorView input = view(memory.asReadOnly());
                  TensorView output = view(shared.allocate(4L * elements, 4));
                  var summed =
                      all.allreduce(input, output, ReduceOp.SUM, named("sum")).await(LIMIT);
                  assertThat(floats(summed)).containsOnly(3);
                  TensorView part = output.rows(0, (elements + 1 - weft.rank()) / 2);
                  output.data().fill((byte) 0);
                  var scattered =
                      all.reduceScatter(input, part, ReduceOp.SUM, named("part")).await(LIMIT);
                  if (scattered.bytes() > 0) {
                    assertThat(floats(scattered)).containsOnly(3);
                  }
                  try (TensorLease gathered = all.allgather(input, named("all")).await(LIMIT)) {
                    assertThat(floats(gathered.view())).hasSize(2 * elements).containsOnly(1, 2);
                  }
                  var splits = Arrays.asList((long) elements, 0L);
                  if (weft.rank() == 1) {
                    Collections.reverse(splits);
                  }
                  try (TensorLease own =
                      all.alltoall(input, splits, named("exchange")).await(LIMIT).tensor()) {
                    assertThat(floats(own.view())).hasSize(elements).containsOnly(1 + weft.rank());
                  }
                  assertThat(floats(input)).containsOnly(1 + weft.rank());
                  return true;
                }
              });
    }
  }

  private static float[] floats(TensorView tensor) {
    return tensor.data().toArray(ValueLayout.JAVA_FLOAT);
  }

  @Test
  void theRendezvousRefusesMemoryThatCannotBeLent() {
    try (LocalJob job = LocalJob.over("inproc", 2);
        Arena confined = Arena.ofConfined()) {
      var key = new RendezvousKey(new Edge(0, 1, 1, "tensor-x"), 1, 0, 0);
      TensorView own = view(confined.allocate(16, 4));
      refused(
          () -> job.ranks().get(0).rendezvous().publish(key, own, () -> {}),
          "confined",
          "Arena.ofShared()");
    }
  }
}
