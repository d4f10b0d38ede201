// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.dataparallel.DataParallel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;

/// Checks optimizers and variables that use the job's own data-parallel layer.
class JobLayerTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /// A model of two weights. A step subtracts the mean of each weight's feed over all ranks.
  private static final class Model implements AutoCloseable {
    final Graph graph = new Graph();
    final Placeholder<TFloat32> first;
    final Placeholder<TFloat32> second;
    final Variable<TFloat32> a;
    final Variable<TFloat32> b;
    final Op step;
    final Session session;

    Model(Weft weft, Communicator communicator, float start, GradientOptions options) {
      Ops tf = Ops.create(graph);
      first = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
      second = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
      a = variable(tf, "a", start);
      b = variable(tf, "b", start);
      var zero = tf.constant(0);
      var loss =
          tf.math.add(
              tf.reduceSum(tf.math.mul(a, first), zero),
              tf.reduceSum(tf.math.mul(b, second), zero));
      var local = new GradientDescent(graph, 1f);
      step =
          (communicator == weft.communicator()
                  ? new DistributedOptimizer(weft, local, options)
                  : new DistributedOptimizer(communicator, DataParallel.of(weft), local, options))
              .minimize(loss);
      session = new Session(graph);
      session.initialize();
      WeftVariables.broadcast(session, communicator, 0);
    }

    private static Variable<TFloat32> variable(Ops tf, String name, float start) {
      Ops init = tf.withInitScope();
      var variable = tf.withName(name).variable(Shape.of(1), TFloat32.class);
      init.assign(variable, init.constant(new float[] {start}));
      return variable;
    }

    void step(float left, float right) {
      try (TFloat32 x = TFloat32.vectorOf(left);
          TFloat32 y = TFloat32.vectorOf(right)) {
        session.runner().feed(first, x).feed(second, y).addTarget(step).run().close();
      }
    }

    List<Float> weights() {
      try (Result result = session.runner().fetch(a).fetch(b).run()) {
        List<Float> values = new ArrayList<>();
        result.forEach(entry -> values.add(((TFloat32) entry.getValue()).getFloat(0)));
        return values;
      }
    }

    @Override
    public void close() {
      session.close();
      graph.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void optimizerOfAJobTrainsThroughTheJobsLayer(String transport) {
    List<List<Float>> weights =
        SmallJob.run(
            2,
            transport,
            weft -> {
              var options = GradientOptions.DEFAULT;
              try (var model = new Model(weft, weft.communicator(), 5 + weft.rank(), options)) {
                assertThat(DataParallel.of(weft).describe()).contains("negotiated");
                for (int i = 0; i < 10; i++) {
                  model.step(weft.rank(), 2 * weft.rank());
                }
                return model.weights();
              }
            });
    assertThat(weights).containsOnly(List.of(0f, -5f));
  }

  /// A gradient has a different shape on one rank. The step fails on both ranks and changes
  /// neither.
  @ParameterizedTest
  @CsvSource({"shm,ALL_OR_NONE", "tcp,ALL_OR_NONE"})
  void aFailedGradientFailsItsStepAndNotTheCommunicator(
      String transport, DistributedOptimizer.Updates updates) {
    List<List<Float>> weights =
        SmallJob.run(
            2,
            transport,
            weft -> {
              var options = GradientOptions.DEFAULT.with(updates);
              try (var model = new ShapedModel(weft, options)) {
                for (int i = 0; i < 6; i++) {
                  model.step(1, 1);
                  int differs = 1 + weft.rank();
                  assertThatThrownBy(() -> model.step(differs, 1))
                      .as("step %d", i)
                      .hasMessageContaining("ranks disagree");
                }
                weft.communicator().barrier(CollectiveOptions.named("end").within(LIMIT)).await();
                return model.weights();
              }
            });
    assertThat(weights).hasSize(2).containsOnly(weights.getFirst());
    assertThat(weights.getFirst()).containsExactly(-6f, -6f, -6f, -6f);
  }

  /// A model that subtracts the averages of its feeds, which may have any length, from the weights.
  private static final class ShapedModel implements AutoCloseable {
    private static final int WEIGHTS = 4;
    final Graph graph = new Graph();
    final List<Placeholder<TFloat32>> fed = new ArrayList<>();
    final List<Variable<TFloat32>> variables = new ArrayList<>();
    final List<Op> steps = new ArrayList<>();
    final Session session;

    ShapedModel(Weft weft, GradientOptions options) {
      Ops tf = Ops.create(graph);
      WeftOps ops =
          new WeftOps(
              graph.baseScope(),
              OpLibrary.load().numberOf(weft.communicator(), DataParallel.of(weft)));
      assertThat(options.updates()).isEqualTo(DistributedOptimizer.Updates.ALL_OR_NONE);
      List<Operand<TFloat32>> averages = new ArrayList<>();
      for (int i = 0; i < WEIGHTS; i++) {
        Placeholder<TFloat32> x = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
        fed.add(x);
        variables.add(Model.variable(tf, "v" + i, 0));
        averages.add(one(ops.gradients(List.of(x), "weft/gradient/v" + i, 1, options, false)));
      }
      Ops after = tf.withControlDependencies(averages.stream().<Op>map(each -> each).toList());
      for (int i = 0; i < WEIGHTS; i++) {
        var mean = after.math.mean(averages.get(i), after.constant(0));
        steps.add(
            after.assignSub(variables.get(i), after.reshape(mean, after.constant(new int[] {1}))));
      }
      session = new Session(graph);
      session.initialize();
    }

    @SuppressWarnings("unchecked") // the average of a TFloat32 is a TFloat32
    private static Operand<TFloat32> one(List<Operand<?>> averages) {
      return (Operand<TFloat32>) averages.getFirst();
    }

    /// @param length length of the second feed
    void step(int length, float value) {
      try (TFloat32 plain = TFloat32.vectorOf(value);
          TFloat32 odd = TFloat32.tensorOf(Shape.of(length))) {
        for (int i = 0; i < length; i++) {
          odd.setFloat(value, i);
        }
        Session.Runner runner = session.runner();
        for (int i = 0; i < WEIGHTS; i++) {
          runner.feed(fed.get(i), i == 1 ? odd : plain);
        }
        steps.forEach(runner::addTarget);
        runner.run().close();
      }
    }

    List<Float> weights() {
      Session.Runner runner = session.runner();
      variables.forEach(runner::fetch);
      try (Result result = runner.run()) {
        List<Float> values = new ArrayList<>();
        result.forEach(entry -> values.add(((TFloat32) entry.getValue()).getFloat(0)));
        return values;
      }
    }

    @Override
    public void close() {
      session.close();
      graph.close();
    }
  }

  @Test
  void twoModelsOnTwoThreadsTrainOverDuplicates() {
    List<List<Float>> weights =
        SmallJob.run(
            2,
            "shm",
            weft -> {
              CompletableFuture<List<Float>> actor = train(weft, "actor", 1);
              CompletableFuture<List<Float>> critic = train(weft, "critic", 1000);
              List<Float> both = new ArrayList<>(actor.get(60, TimeUnit.SECONDS));
              both.addAll(critic.get(60, TimeUnit.SECONDS));
              return both;
            });
    assertThat(weights).containsOnly(List.of(-20f, -40f, -20000f, -40000f));
  }

  private static CompletableFuture<List<Float>> train(Weft weft, String name, float by) {
    CompletableFuture<List<Float>> weights = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              Communicator own = weft.communicator().duplicate(name);
              try (var model = new Model(weft, own, 0, GradientOptions.DEFAULT)) {
                for (int i = 0; i < 20; i++) {
                  model.step(by, 2 * by);
                }
                weights.complete(model.weights());
              } catch (Throwable t) {
                weights.completeExceptionally(t);
              }
            });
    return weights;
  }

  @Test
  void twoOptimizersOfOneGraphAreIndependent() {
    List<List<Float>> weights =
        SmallJob.run(
            2,
            "tcp",
            weft -> {
              try (Graph graph = new Graph()) {
                Ops tf = Ops.create(graph);
                var x = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(1)));
                var v = Model.variable(tf, "v", 0);
                Op small =
                    new DistributedOptimizer(weft, new GradientDescent(graph, 1f))
                        .minimize(tf.math.mul(v, x));
                Op large =
                    new DistributedOptimizer(weft, new GradientDescent(graph, 1000f))
                        .minimize(tf.math.mul(v, x));
                try (Session session = new Session(graph);
                    TFloat32 fed = TFloat32.vectorOf(1 + weft.rank())) {
                  session.initialize();
                  WeftVariables.broadcast(session, weft, 0);
                  for (int i = 0; i < 5; i++) {
                    session.runner().feed(x, fed).addTarget(small).run().close();
                    session.runner().feed(x, fed).addTarget(large).run().close();
                  }
                  try (Result result = session.runner().fetch(v).run()) {
                    return List.of(((TFloat32) result.get(0)).getFloat(0));
                  }
                }
              }
            });
    assertThat(weights).containsOnly(List.of(-7507.5f));
  }
}
