// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.Adam;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;

/// Checks the ops on communicators of a job, over its transports.
class LocalJobTest {

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void trainingEndsWithTheSameWeightsOnAllRanksAndInAllRuns(String transport) throws Exception {
    List<String> digests = new ArrayList<>();
    for (int run = 0; run < 2; run++) {
      digests.addAll(SmallJob.run(2, transport, LocalJobTest::train));
    }
    assertThat(digests).hasSize(4).containsOnly(digests.getFirst());
  }

  private static String train(Weft weft) {
    try (Mlp model =
        new Mlp(7 + weft.rank(), weft.communicator(), graph -> new Adam(graph, 0.01f))) {
      WeftVariables.broadcast(model.session, weft.communicator(), 0);
      model.train(10, 2 * Mlp.BATCH, weft.rank() * Mlp.BATCH, Mlp.BATCH);
      return WeightsDigest.of(model.session, model.variables);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void stepsOfManyTensorsOfAllSizesAreReduced(String transport) throws Exception {
    List<Float> sums = SmallJob.run(2, transport, LocalJobTest::reduceMany);
    assertThat(sums).hasSize(2).containsOnly(sums.getFirst());
  }

  private static float reduceMany(Weft weft) {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      WeftOps ops = new WeftOps(graph, weft.communicator());
      Placeholder<TFloat32> fed = tf.withName("fed").placeholder(TFloat32.class);
      List<Operand<TFloat32>> sums = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        int number = weft.rank() == 0 ? i : 29 - i;
        Operand<TFloat32> large = tf.fill(tf.constant(new int[] {number * number * 200}), fed);
        Operand<TFloat32> sum = ops.allreduce(large, "x" + number, ReduceOp.SUM);
        sums.add(tf.reduceSum(sum, tf.constant(0)));
      }
      Operand<TFloat32> total = tf.math.addN(sums);
      float last = 0;
      try (Session session = new Session(graph);
          TFloat32 one = TFloat32.scalarOf(1)) {
        for (int step = 0; step < 3; step++) {
          try (Result result = session.runner().feed(fed, one).fetch(total).run()) {
            last = TensorViews.of(result.get(0)).data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0);
          }
        }
      }
      assertThat(last).isEqualTo(2f * 200 * 29 * 30 * 59 / 6);
      return last;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void departedRankFailsTheStepOfTheOthers(String transport) throws Exception {
    List<String> messages = SmallJob.run(2, transport, LocalJobTest::stepWithoutRankOne);
    assertThat(messages.getFirst()).contains("rank 1").contains("'w'");
  }

  private static String stepWithoutRankOne(Weft weft) {
    if (weft.rank() == 1) {
      weft.close();
      return "left";
    }
    try (Graph graph = new Graph()) {
      Operand<TFloat32> sum =
          new WeftOps(graph, weft.communicator())
              .allreduce(Ops.create(graph).constant(new float[] {1}), "w", ReduceOp.SUM);
      try (Session session = new Session(graph)) {
        session.runner().fetch(sum).run().close();
        return "reduced without rank 1";
      } catch (RuntimeException e) {
        return e.getMessage();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void disagreementFailsAllRanks(String transport) throws Exception {
    List<String> messages = SmallJob.run(2, transport, LocalJobTest::disagree);
    assertThat(messages)
        .allSatisfy(
            message ->
                assertThat(message).contains("w").contains("FLOAT32[1]").contains("FLOAT32[2]"));
  }

  private static String disagree(Weft weft) {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      WeftOps ops = new WeftOps(graph, weft.communicator());
      Operand<TFloat32> w =
          ops.allreduce(tf.constant(new float[1 + weft.rank()]), "w", ReduceOp.SUM);
      Operand<TFloat32> alone = ops.allreduce(tf.constant(1f), "only" + weft.rank(), ReduceOp.SUM);
      try (Session session = new Session(graph)) {
        session.runner().fetch(w).fetch(alone).run().close();
        return "reduced";
      } catch (RuntimeException e) {
        return e.getMessage();
      }
    }
  }
}
