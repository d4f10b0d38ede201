// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.ffm.HandleTable;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.types.TFloat32;

class AsynchronousKernelTest {

  private static final ConfigProto ONE_THREAD =
      ConfigProto.newBuilder()
          .setUsePerSessionThreads(true)
          .setInterOpParallelismThreads(1)
          .setIntraOpParallelismThreads(1)
          .build();

  private final InMemoryRanks ranks = new InMemoryRanks(2);

  @AfterEach
  void close() {
    ranks.close();
  }

  @Test
  void oneThreadHolds64CollectivesInFlight() throws Exception {
    assertThat(OpLibrary.load().mode()).isEqualTo(KernelMode.ASYNCHRONOUS);
    List<Float> sums =
        Together.run(
            2,
            rank ->
                () -> {
                  try (Graph graph = new Graph()) {
                    Operand<TFloat32> sum = sumOfParallel(graph, rank, 64, rank == 1);
                    try (Session session = new Session(graph, ONE_THREAD);
                        TFloat32 fed = TFloat32.scalarOf(rank + 1);
                        Result result = session.runner().feed("fed", fed).fetch(sum).run()) {
                      return first(result);
                    }
                  }
                });
    assertThat(sums).containsExactly(192f, 192f);
  }

  @Test
  void tenThousandCompletionsLeakNoMemoryAndNoKernels() throws Exception {
    HandleTable<CollectiveKernel<?>> kernels = OpLibrary.load().kernels();
    int before = kernels.live();
    long madeBefore = kernels.everAdded();
    int ops = 50;
    long[] grown = new long[1];
    Together.run(
        2,
        rank ->
            () -> {
              try (Graph graph = new Graph()) {
                Operand<TFloat32> sum = sumOfParallel(graph, rank, ops, false);
                try (Session session = new Session(graph);
                    TFloat32 fed = TFloat32.vectorOf(new float[16384])) {
                  runs(session, sum, fed, 20);
                  long start = residentBytes();
                  runs(session, sum, fed, 100);
                  if (rank == 0) {
                    grown[0] = residentBytes() - start;
                  }
                }
              }
              return null;
            });
    assertThat(kernels.live()).isEqualTo(before);
    assertThat(kernels.everAdded() - madeBefore).isEqualTo(2 * ops);
    // One leaked tensor per op would be 2 * 50 * 100 * 64 KiB.
    assertThat(grown[0]).isLessThan(200L << 20);
  }

  @Test
  void memoryOfAnInputWithoutOtherUsersIsForwarded() throws Exception {
    RecordingCommunicator recorded = new RecordingCommunicator(ranks.of(0));
    Together.run(
        2,
        rank ->
            () -> {
              try (Graph graph = new Graph()) {
                Ops tf = Ops.create(graph);
                Placeholder<TFloat32> fed = tf.withName("fed").placeholder(TFloat32.class);
                Operand<TFloat32> own = tf.math.add(fed, tf.constant(1f));
                WeftOps weft = new WeftOps(graph, rank == 0 ? recorded : ranks.of(1));
                Operand<TFloat32> a = weft.allreduce(own, "in_place", ReduceOp.SUM);
                Operand<TFloat32> b = weft.allreduce(fed, "copied", ReduceOp.SUM);
                try (Session session = new Session(graph);
                    TFloat32 in = TFloat32.vectorOf(1, 2, 3);
                    Result result = session.runner().feed(fed, in).fetch(a).fetch(b).run()) {
                  assertThat(floats(result, 0)).containsExactly(4, 6, 8);
                  assertThat(floats(result, 1)).containsExactly(2, 4, 6);
                  assertThat(TensorViews.of(in).data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED))
                      .containsExactly(1, 2, 3);
                }
              }
              return null;
            });
    assertThat(recorded.inPlace()).containsEntry("in_place", true).containsEntry("copied", false);
  }

  @Test
  void concurrentRunIsRefusedAndEndsTheCommunicator() throws Exception {
    try (Graph graph = new Graph()) {
      Operand<TFloat32> sum = sumOfParallel(graph, 0, 1, false);
      try (Session session = new Session(graph);
          TFloat32 fed = TFloat32.scalarOf(1)) {
        List<Throwable> failures =
            Together.failures(
                2,
                run ->
                    () -> {
                      session.runner().feed("fed", fed).fetch(sum).run().close();
                      return null;
                    });
        assertThat(failures)
            .allSatisfy(
                failure ->
                    assertThat(failure).hasMessageContaining("'x0' is still in flight on rank 0"));
      }
    }
  }

  private Operand<TFloat32> sumOfParallel(Graph graph, int rank, int ops, boolean reversed) {
    Ops tf = Ops.create(graph);
    WeftOps weft = new WeftOps(graph, ranks.of(rank));
    Placeholder<TFloat32> fed = tf.withName("fed").placeholder(TFloat32.class);
    List<Operand<TFloat32>> sums = new ArrayList<>();
    for (int i = 0; i < ops; i++) {
      sums.add(weft.allreduce(fed, "x" + (reversed ? ops - 1 - i : i), ReduceOp.SUM));
    }
    return tf.math.addN(sums);
  }

  private static void runs(Session session, Operand<TFloat32> sum, TFloat32 fed, int count) {
    for (int i = 0; i < count; i++) {
      session.runner().feed("fed", fed).fetch(sum).run().close();
    }
  }

  private static float first(Result result) {
    return floats(result, 0)[0];
  }

  private static float[] floats(Result result, int index) {
    return TensorViews.of(result.get(index)).data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
  }

  private static long residentBytes() throws IOException {
    String pages = Files.readString(Path.of("/proc/self/statm")).split(" ")[1];
    return Long.parseLong(pages) * 4096;
  }
}
