// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.StepException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.DeviceSpec;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Tensor;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// Checks an op that fails on one task while a second task waits for the op's output, and a third
/// one for the second. The step ends immediately, not at its time limit, and the failure names the
/// op and its task.
class FailureOnTheWayTest {

  private static final Duration AT_ONCE = Duration.ofSeconds(30);
  private static final GraphCall CALL = new GraphCall(List.of("x"), List.of("end:0"), List.of());

  /// Returns a graph whose tensor is sent from task to task, negated on each, and checked on one.
  private static GraphDef graph(List<Task> way, Task checking) {
    try (Graph graph = new Graph()) {
      Ops client = Ops.create(graph).withDevice(device(new Task("worker", 0)));
      Operand<TFloat32> at =
          client.withName("x").placeholder(TFloat32.class, Placeholder.shape(Shape.of()));
      for (int i = 0; i < way.size(); i++) {
        Ops here = Ops.create(graph).withDevice(device(way.get(i)));
        at = here.withName("negated" + i).math.neg(at);
        if (way.get(i).equals(checking)) {
          at = here.withName("checked" + i).debugging.checkNumerics(at, "no number came");
        }
      }
      client.withName("end").identity(at);
      return graph.toGraphDef();
    }
  }

  private static DeviceSpec device(Task task) {
    return DeviceSpec.newBuilder().job(task.job()).task(task.index()).build();
  }

  @ParameterizedTest
  @CsvSource({
    "inproc, ps:0 ps:1, ps:0",
    "tcp, ps:0 ps:1, ps:0",
    "shm, ps:0 ps:1, ps:0",
    "tcp, ps:1 ps:0 worker:0, ps:1",
    "tcp, ps:0 ps:1 ps:0, ps:0", // this task waits for the result of its own op
    "tcp, worker:0 ps:0 ps:1 worker:0, worker:0"
  })
  void stepEndsImmediatelyAndNamesTheTaskOfTheOp(String transport, String way, String failing) {
    List<Task> tasks = List.of(way.split(" ", -1)).stream().map(FailureOnTheWayTest::task).toList();
    var unused =
        Clusters.on(
            transport,
            2,
            1,
            server -> {
              GraphDef graph = graph(tasks, task(failing));
              try (WeftSession session = WeftSession.open(server, graph, Clusters.LONG)) {
                float there = tasks.size() % 2 == 0 ? 3 : -3;
                assertThat(run(session, 3)).isEqualTo(there);
                long start = System.nanoTime();
                StepException failure =
                    catchThrowableOfType(StepException.class, () -> run(session, Float.NaN));
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_ONCE);
                assertThat(failure.reason()).isEqualTo(Reason.FAILED);
                assertThat(failure.task()).isEqualTo(task(failing));
                assertThat(failure)
                    .hasMessageContaining(task(failing).toString())
                    .hasMessageContaining("checked")
                    .hasMessageContaining("no number came");
                assertThat(run(session, 3)).isEqualTo(there);
              }
              return true;
            });
  }

  private static Task task(String text) {
    int colon = text.indexOf(':');
    return new Task(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
  }

  private static float run(WeftSession session, float x) throws InterruptedException {
    try (TFloat32 fed = TFloat32.scalarOf(x);
        Fetched fetched = session.run(CALL, Map.<String, Tensor>of("x", fed), Clusters.LONG)) {
      return ((TFloat32) fetched.get(0)).getFloat();
    }
  }
}
