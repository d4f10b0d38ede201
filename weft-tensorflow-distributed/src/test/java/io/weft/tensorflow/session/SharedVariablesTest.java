// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.ProcessSet;
import io.weft.collective.Communicator;
import io.weft.tensorflow.ffm.BorrowedTensors;
import io.weft.tensorflow.partition.GraphCall;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.DeviceSpec;
import org.tensorflow.Graph;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.AssignAdd;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt64;

/// Checks workers that change the same variables of a server in separate steps.
class SharedVariablesTest {

  private static final int WORKERS = 3;
  private static final int STEPS = 60;

  enum VariableKind {
    REFERENCE,
    RESOURCE
  }

  private static GraphDef counter(VariableKind kind, DeviceSpec worker) {
    try (Graph graph = new Graph()) {
      Ops server = Ops.create(graph).withDevice(device("ps", 0));
      Ops here = Ops.create(graph).withDevice(worker);
      var one = here.withName("one").constant(1L);
      var zero = server.constant(0L);
      switch (kind) {
        case REFERENCE -> {
          var count = server.withName("count").variable(Shape.of(), TInt64.class);
          server.withName("init").assign(count, zero);
          server.withName("add").assignAdd(count, one, AssignAdd.useLocking(true));
          here.withName("read").identity(count);
        }
        case RESOURCE -> {
          var count = server.withName("count").varHandleOp(TInt64.class, Shape.of());
          server.withName("init").assignVariableOp(count, zero);
          server.withName("add").assignAddVariableOp(count, one);
          here.withName("read").identity(server.readVariableOp(count, TInt64.class));
        }
      }
      return graph.toGraphDef();
    }
  }

  private static DeviceSpec device(String job, int task) {
    return DeviceSpec.newBuilder().job(job).task(task).build();
  }

  /// The worker's rank follows from the order of the tasks, which begins with one server.
  @ParameterizedTest
  @EnumSource
  void workersCountTogether(VariableKind kind) {
    List<Long> counts = Clusters.on("inproc", 1, WORKERS + 1, server -> count(server, kind));
    assertThat(counts).hasSize(WORKERS + 1).containsOnly((long) WORKERS * STEPS);
  }

  /// Counts and returns the count. The last worker only reads, after the others have counted.
  private static long count(WeftServer server, VariableKind kind) throws Exception {
    int worker = server.task().index();
    GraphDef graph = counter(kind, device("worker", worker));
    Communicator workers = server.weft().communicator(new ProcessSet(List.of(1, 2, 3, 4)));
    try (WeftSession session = WeftSession.open(server, graph, Clusters.LONG)) {
      if (worker == 0) {
        session.run(List.of("init"), Clusters.LONG);
      }
      var unused = workers.barrier(named("initialized")).await();
      for (int step = 0; step < STEPS && worker < WORKERS; step++) {
        session.run(List.of("add"), Clusters.LONG);
      }
      var unused2 = workers.barrier(named("counted")).await();
      GraphCall read = new GraphCall(List.of(), List.of("read:0"), List.of());
      try (Fetched value = session.run(read, Map.of(), Clusters.LONG)) {
        return ((TInt64) value.get(0)).getLong();
      }
    }
  }

  @Test
  void fetchesFromAnotherTaskHaveTheOrderOfTheCall() {
    GraphCall both =
        new GraphCall(List.of(), List.of("read:0", "far:0", "more:0", "beyond:0"), List.of());
    var unused =
        Clusters.on(
            "inproc",
            1,
            1,
            server -> {
              try (Graph graph = new Graph()) {
                Ops there = Ops.create(graph).withDevice(device("ps", 0));
                Ops here = Ops.create(graph).withDevice(device("worker", 0));
                there.withName("far").constant(new float[] {1, 2});
                here.withName("read").constant(7f);
                here.withName("more").constant(8f);
                there.withName("beyond").constant(9f);
                try (WeftSession session =
                        WeftSession.open(server, graph.toGraphDef(), Clusters.LONG);
                    Fetched fetched = session.run(both, Map.of(), Clusters.LONG)) {
                  assertThat(fetched.size()).isEqualTo(4);
                  assertThat(((TFloat32) fetched.get(0)).getFloat()).isEqualTo(7);
                  assertThat(((TFloat32) fetched.get(1)).getFloat(1)).isEqualTo(2);
                  assertThat(((TFloat32) fetched.get(2)).getFloat()).isEqualTo(8);
                  assertThat(((TFloat32) fetched.get(3)).getFloat()).isEqualTo(9);
                  GraphCall twice = new GraphCall(List.of(), List.of("far:0", "far:0"), List.of());
                  assertThatThrownBy(() -> session.run(twice, Map.of(), Clusters.LONG))
                      .isInstanceOf(IllegalArgumentException.class)
                      .hasMessageContaining("far:0");
                }
              }
              return true;
            });
  }

  /// If TensorFlow had made a copy, it would have released the memory immediately.
  @Test
  void longReceivedTensorIsUsedWithoutACopy() {
    GraphCall call = new GraphCall(List.of(), List.of("landed:0"), List.of());
    var unused =
        Clusters.on(
            "tcp",
            1,
            1,
            server -> {
              try (Graph graph = new Graph()) {
                Ops there = Ops.create(graph).withDevice(device("ps", 0));
                Ops here = Ops.create(graph).withDevice(device("worker", 0));
                var many = there.fill(there.constant(new int[] {100_000}), there.constant(3f));
                here.withName("landed").identity(many);
                try (WeftSession session =
                    WeftSession.open(server, graph.toGraphDef(), Clusters.LONG)) {
                  try (Fetched fetched = session.run(call, Map.of(), Clusters.LONG)) {
                    assertThat(BorrowedTensors.live()).isEqualTo(1);
                    assertThat(((TFloat32) fetched.get(0)).getFloat(99_999)).isEqualTo(3);
                  }
                  assertThat(BorrowedTensors.live()).isZero();
                }
              }
              return true;
            });
  }
}
