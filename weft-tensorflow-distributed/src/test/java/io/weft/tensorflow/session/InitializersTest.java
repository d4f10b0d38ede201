// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.ProcessSet;
import io.weft.collective.CollectiveOptions;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.placement.Initializers;
import io.weft.tensorflow.placement.ReplicaDeviceSetter;
import io.weft.tensorflow.placement.VariablePlacement;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tensorflow.Graph;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.VarHandleOp;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// Checks variables on servers that one worker initializes for all.
@Timeout(120)
class InitializersTest {

  private static final GraphCall ADD =
      new GraphCall(List.of(), List.of(), List.of("more_v", "more_w"));
  private static final GraphCall READ =
      new GraphCall(List.of(), List.of("v_read:0", "w_read:0"), List.of());

  @Test
  void theFirstWorkerInitializesOnceAndTheOthersWaitForIt() {
    List<List<Float>> seen =
        Clusters.on(
            "inproc",
            2,
            2,
            server -> {
              try (WeftSession session =
                  WeftSession.openInitialized(server, placed(server, graph(true)), Clusters.LONG)) {
                assertThat(read(session)).allSatisfy(value -> assertThat(value).isGreaterThan(4));
                session.run(ADD, Map.of(), Clusters.LONG).close();
                var all = server.weft().communicator(workers(2, 3));
                var unused = all.barrier(CollectiveOptions.named("added")).await();
                // The variables now have other values, and no worker initializes them again.
                try (WeftSession again =
                    WeftSession.openInitialized(
                        server, placed(server, graph(true)), Clusters.LONG)) {
                  return read(again);
                }
              }
            });
    assertThat(seen).containsOnly(List.of(7f, 9f));
  }

  @Test
  void aGraphRunsWithoutARequestForItsInitializers() {
    List<String> seen =
        Clusters.on(
            "inproc",
            1,
            1,
            server -> {
              try (WeftSession session =
                  WeftSession.open(server, placed(server, graph(true)), Clusters.LONG)) {
                session.run(List.of("Init"), ChronoUnit.FOREVER.getDuration());
                session.run(ADD, Map.of(), Clusters.LONG).close();
                return read(session).toString();
              }
            });
    assertThat(seen).containsOnly("[6.0, 8.0]");
  }

  @Test
  void aWorkerThatWaitsInVainNamesTheChief() {
    List<String> seen =
        Clusters.on(
            "inproc",
            1,
            2,
            server -> {
              String end = "chief";
              if (server.task().index() == 1) {
                try (WeftSession session =
                    WeftSession.openInitialized(
                        server, placed(server, graph(true)), Duration.ofSeconds(2))) {
                  end = session.toString();
                } catch (StepException e) {
                  end = e.reason() + " " + e.getMessage();
                }
              }
              var all = server.weft().communicator(workers(1, 2));
              var unused = all.barrier(CollectiveOptions.named("end")).await();
              return end;
            });
    assertThat(seen.get(1))
        .contains("TIMED_OUT 0 of 2 variables have a value after PT2S")
        .contains("worker")
        .contains("openInitialized");
  }

  @Test
  void assignmentsOutsideTheInitScopeAreFoundAndAMissingOneIsNamed() {
    assertThat(Initializers.of(graph(false)).targets()).containsExactlyInAnyOrder("v_set", "w_set");
    try (Graph graph = new Graph()) {
      Ops.create(graph).withName("bare").variable(Shape.scalar(), TFloat32.class);
      GraphDef bare = graph.toGraphDef();
      assertThatThrownBy(() -> Initializers.of(bare))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("variable 'bare' has no initializer");
    }
  }

  private static List<Float> read(WeftSession session) throws InterruptedException {
    try (Fetched read = session.run(READ, Map.of(), Clusters.LONG)) {
      return List.of(((TFloat32) read.get(0)).getFloat(), ((TFloat32) read.get(1)).getFloat());
    }
  }

  private static ProcessSet workers(int... ranks) {
    return new ProcessSet(IntStream.of(ranks).boxed().toList());
  }

  private static GraphDef placed(WeftServer server, GraphDef graph) {
    ClusterSpec cluster = server.cluster();
    return ReplicaDeviceSetter.of(cluster, server.task(), VariablePlacement.ROUND_ROBIN)
        .place(graph);
  }

  /// Returns a graph that adds 1 to a reference variable of 5 and to a resource variable of 7.
  private static GraphDef graph(boolean inScope) {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      var v = tf.withName("v").variable(Shape.scalar(), TFloat32.class);
      var w =
          tf.withName("w").varHandleOp(TFloat32.class, Shape.scalar(), VarHandleOp.sharedName("w"));
      Ops init = inScope ? tf.withInitScope() : tf;
      var start = init.constant(5f);
      init.withName("v_set").assign(v, start);
      init.withName("w_set").assignVariableOp(w, init.math.add(start, init.constant(2f)));
      tf.withName("more_v").assignAdd(v, tf.constant(1f));
      tf.withName("more_w").assignAddVariableOp(w, tf.constant(1f));
      tf.withName("v_read").identity(v);
      tf.withName("w_read").readVariableOp(w, TFloat32.class);
      return graph.toGraphDef();
    }
  }
}
