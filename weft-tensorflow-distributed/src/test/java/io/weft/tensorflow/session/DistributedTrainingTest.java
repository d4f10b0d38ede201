// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.TensorView;
import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.placement.ReplicaDeviceSetter;
import io.weft.tensorflow.placement.VariablePlacement;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.tensorflow.Graph;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.Tensor;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// Checks training of a network whose variables are on servers and whose computation is on a
/// worker.
class DistributedTrainingTest {

  private static final int STEPS = 20;
  private static final SmallNetwork NETWORK = SmallNetwork.build();

  @Test
  void lossesMatchALocalSessionAndAreEqualOverAllTransports() {
    List<Float> local = local();
    List<Float> inproc = distributed("inproc");
    List<Float> tcp = distributed("tcp");
    assertThat(inproc).hasSameSizeAs(local).isEqualTo(tcp).isEqualTo(distributed("shm"));
    for (int i = 0; i < local.size(); i++) {
      assertThat(inproc.get(i)).isCloseTo(local.get(i), Percentage.withPercentage(1e-3));
    }
    assertThat(local.getFirst()).as("training changes the loss").isNotEqualTo(local.get(STEPS - 1));
  }

  /// Returns the losses, followed by all weights.
  private static List<Float> distributed(String transport) {
    return Clusters.on(transport, 2, 1, DistributedTrainingTest::train).getFirst();
  }

  private static List<Float> train(WeftServer server) throws InterruptedException {
    GraphDef placed =
        ReplicaDeviceSetter.of(server.cluster(), server.task(), VariablePlacement.ROUND_ROBIN)
            .place(NETWORK.graph());
    List<Float> seen = new ArrayList<>();
    try (WeftSession session = WeftSession.open(server, placed, Clusters.LONG)) {
      session.run(NETWORK.init(), Clusters.LONG);
      for (int step = 0; step < STEPS; step++) {
        Map<String, Tensor> batch = SmallNetwork.batch(step);
        try (Fetched fetched = session.run(SmallNetwork.TRAIN, batch, Clusters.LONG)) {
          add(fetched.get(0), seen);
        } finally {
          batch.values().forEach(Tensor::close);
        }
      }
      GraphCall read = new GraphCall(List.of(), NETWORK.weights(), List.of());
      try (Fetched weights = session.run(read, Map.of(), Clusters.LONG)) {
        for (int i = 0; i < weights.size(); i++) {
          add(weights.get(i), seen);
        }
      }
    }
    return seen;
  }

  private static List<Float> local() {
    List<Float> seen = new ArrayList<>();
    try (Graph graph = new Graph()) {
      graph.importGraphDef(NETWORK.graph());
      try (Session session = new Session(graph)) {
        Session.Runner first = session.runner();
        NETWORK.init().forEach(first::addTarget);
        first.run().close();
        for (int step = 0; step < STEPS; step++) {
          Map<String, Tensor> batch = SmallNetwork.batch(step);
          Session.Runner runner = session.runner().fetch("loss:0").addTarget("train");
          batch.forEach(runner::feed);
          try (Result result = runner.run()) {
            add(result.get(0), seen);
          } finally {
            batch.values().forEach(Tensor::close);
          }
        }
        Session.Runner read = session.runner();
        NETWORK.weights().forEach(read::fetch);
        try (Result weights = read.run()) {
          weights.forEach(weight -> add(weight.getValue(), seen));
        }
      }
    }
    return seen;
  }

  private static void add(Tensor tensor, List<Float> to) {
    TensorView view = TensorViews.of((TFloat32) tensor);
    for (float value : view.data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED)) {
      to.add(value);
    }
  }
}
