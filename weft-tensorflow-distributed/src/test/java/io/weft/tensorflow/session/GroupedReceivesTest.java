// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.rendezvous.RendezvousCounts;
import io.weft.tensorflow.partition.GraphCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.DeviceSpec;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.VarHandleOp;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// Checks the number of requests of a step that needs a hundred variables of a server.
class GroupedReceivesTest {

  private static final int VARIABLES = 100;
  private static final int STEPS = 20;

  private record Model(GraphDef graph, List<String> init) {}

  private static Model model(int elements) {
    try (Graph graph = new Graph()) {
      Ops worker = Ops.create(graph).withDevice(device("worker"));
      Ops server = Ops.create(graph).withDevice(device("ps"));
      List<String> init = new ArrayList<>();
      List<Operand<TFloat32>> reads = new ArrayList<>();
      for (int i = 0; i < VARIABLES; i++) {
        VarHandleOp handle =
            server.withName("v" + i).varHandleOp(TFloat32.class, Shape.of(elements));
        var value = server.fill(server.constant(new int[] {elements}), server.constant(1f + i));
        init.add(server.assignVariableOp(handle, value).op().name());
        reads.add(server.readVariableOp(handle, TFloat32.class));
      }
      worker.withName("total").sum(worker.math.addN(reads), worker.constant(0));
      worker.withName("few").sum(worker.math.addN(reads.subList(7, 10)), worker.constant(0));
      worker.withName("last").sum(reads.getLast(), worker.constant(0));
      return new Model(graph.toGraphDef(), init);
    }
  }

  private static DeviceSpec device(String job) {
    return DeviceSpec.newBuilder().job(job).task(0).build();
  }

  /// A step makes one request for all variables, or one for each.
  @ParameterizedTest
  @CsvSource({
    "inproc, fused, 4, 1, 3",
    "tcp, fused, 4, 1, 3",
    "tcp, fused, 3000, 1, 3",
    "shm, fused, 4, 1, 3",
    "shm, fused, 3000, 1, 3",
    "inproc, single, 4, 100, 102"
  })
  void stepMakesOneRequestForAGroup(
      String transport, String requests, int elements, long least, long most) {
    Model model = model(elements);
    long counted =
        Clusters.on(
                Map.of("WEFT_TRANSPORT", transport, "WEFT_RENDEZVOUS_REQUESTS", requests),
                1,
                1,
                server -> requests(server, model, elements))
            .getFirst();
    assertThat(counted / (double) STEPS)
        .as("requests for each step")
        .isBetween(1.0 * least, 1.0 * most);
  }

  /// One node of TensorFlow receives the short tensors that a call needs, also after a step that
  /// failed because no variable had a value.
  @ParameterizedTest
  @CsvSource({"inproc, 4", "tcp, 4", "inproc, 3000"})
  void callsGetTheTensorsOfAGroupThatTheyNeed(String transport, int elements) {
    Model model = model(elements);
    List<List<Float>> sums =
        Clusters.on(
            Map.of("WEFT_TRANSPORT", transport),
            1,
            1,
            server -> {
              List<Float> each = new ArrayList<>();
              try (WeftSession session = WeftSession.open(server, model.graph, Clusters.LONG)) {
                assertThat(
                        catchThrowableOfType(StepException.class, () -> fetched(session, "few:0")))
                    .hasMessageContaining("/job:ps/task:0");
                session.run(model.init, Clusters.LONG);
                for (int step = 0; step < 3; step++) {
                  each.add(fetched(session, "few:0"));
                  each.add(fetched(session, "total:0"));
                  each.add(fetched(session, "last:0"));
                }
              }
              return each;
            });
    Float few = elements * (8f + 9f + 10f);
    Float total = elements * VARIABLES * (VARIABLES + 1) / 2f;
    Float last = (float) elements * VARIABLES;
    assertThat(sums.getFirst())
        .containsExactly(few, total, last, few, total, last, few, total, last);
  }

  private static Float fetched(WeftSession session, String name) throws InterruptedException {
    GraphCall call = new GraphCall(List.of(), List.of(name), List.of());
    try (Fetched fetched = session.run(call, Map.of(), Clusters.LONG)) {
      return ((TFloat32) fetched.get(0)).getFloat();
    }
  }

  private static long requests(WeftServer server, Model model, int elements)
      throws InterruptedException {
    GraphCall call = new GraphCall(List.of(), List.of("total:0"), List.of());
    try (WeftSession session = WeftSession.open(server, model.graph, Clusters.LONG)) {
      session.run(model.init, Clusters.LONG);
      session.run(call, Map.of(), Clusters.LONG).close(); // announces the edges
      long before = requests(server);
      for (int step = 0; step < STEPS; step++) {
        try (Fetched total = session.run(call, Map.of(), Clusters.LONG)) {
          assertThat(((TFloat32) total.get(0)).getFloat())
              .isEqualTo(elements * VARIABLES * (VARIABLES + 1) / 2f);
        }
      }
      return requests(server) - before;
    }
  }

  /// Returns the number of requests, once all submitted ones are sent.
  private static long requests(WeftServer server) {
    long end = System.nanoTime() + Clusters.LONG.toNanos();
    RendezvousCounts counts = server.weft().rendezvous().counts();
    while (counts.queued() > 0) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("still queued: " + counts);
      }
      LockSupport.parkNanos(10_000);
      counts = server.weft().rendezvous().counts();
    }
    return counts.totals().requests();
  }
}
