// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.placement.Initializers;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Model;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.DeviceSpec;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt64;

/// A worker's whole graph, which is equal on all workers, and the names of its fetches and targets.
///
/// @param graph without devices, except for the ops on the first server
/// @param train names of the ops that a worker's training step runs
/// @param update names of the ops that apply the gradients of a synchronous step to the variables
/// @param results names of the fetches of results
/// @param parameters the number of weights
/// @param memory the state that a checkpoint keeps; `NONE` if the run keeps none
record Replica(
    GraphDef graph,
    List<String> train,
    List<String> update,
    Results results,
    long parameters,
    ServerMemory memory) {

  /// The names of the fetches of results.
  ///
  /// @param loss of a step, summed over the worker's share
  /// @param correct the number of correct predictions in the batch
  /// @param scores of the batch, if the workload is ranked, or none
  /// @param weights of the model
  record Results(String loss, String correct, List<String> scores, List<String> weights) {}

  /// The placeholders of the batch and of the factor of the loss.
  static final List<String> FEEDS = List.of("features", "labels");

  static final String FACTOR = "loss_factor";

  /// The op that initializes all variables.
  static final String INIT = "first_values";

  /// The sum of the losses of a synchronous step's gradients, and the number of these gradients.
  static final String SUMMARY = "summary";

  private static final DeviceSpec FIRST_SERVER =
      DeviceSpec.newBuilder().job(TaskLayout.SERVERS).task(0).build();

  /// @param like examples of the workers' training data
  /// @param results added to the graph
  static Replica of(
      TrainingSettings settings, Servers servers, Examples like, WorkerResults results) {
    try (Model model = settings.model(like)) {
      Graph graph = model.graph();
      Ops tf = Ops.create(graph);
      Ops first = tf.withDevice(FIRST_SERVER);
      results.addTo(first, servers.workers());
      Placeholder<TFloat32> factor =
          tf.withName(FACTOR).placeholder(TFloat32.class, Placeholder.shape(Shape.scalar()));
      List<Output<TFloat32>> gradients = Gradients.of(model, tf.math.mul(model.lossSum(), factor));
      var updates = new IndependentUpdates(settings.optimizer(), settings.rate());
      List<String> train = new ArrayList<>();
      List<String> update = new ArrayList<>();
      if (settings.sync() instanceof Sync.Asynchronous) {
        apply(updates, model, gradients).forEach(op -> train.add(op.op().name()));
      } else {
        var accumulated = new Accumulated(graph, servers.counted());
        List<Output<TFloat32>> means = new ArrayList<>();
        for (int i = 0; i < gradients.size(); i++) {
          means.add(accumulated.mean(model.variables().get(i).asOutput(), gradients.get(i)));
        }
        Operand<TFloat32> facts = tf.stack(List.of(model.lossSum(), tf.constant(1f)));
        Output<TFloat32> sum = accumulated.sum("facts", first, facts);
        first.withName(SUMMARY).identity(sum);
        Op updated = first.withControlDependencies(apply(updates, model, means)).noOp();
        var next =
            first
                .withName(StepTokens.NEXT)
                .placeholder(TInt64.class, Placeholder.shape(Shape.scalar()));
        StepTokens.add(first, servers.workers(), next, accumulated.put(), updated)
            .forEach(given -> update.add(given.op().name()));
        accumulated.put().forEach(put -> train.add(put.name()));
      }
      ServerMemory memory =
          settings.checkpoint().isPresent() ? ServerMemory.addTo(graph) : ServerMemory.NONE;
      return new Replica(
          Initializers.portable(graph.toGraphDef(), INIT),
          train,
          update,
          new Results(
              name(model.lossSum()),
              name(model.correct()),
              model.score().stream().map(Replica::name).toList(),
              model.variables().stream().map(Replica::name).toList()),
          model.parameters(),
          memory);
    }
  }

  private static List<Op> apply(
      IndependentUpdates updates, Model model, List<Output<TFloat32>> gradients) {
    List<Op> all = new ArrayList<>();
    for (int i = 0; i < gradients.size(); i++) {
      all.add(updates.apply(model.graph(), model.variables().get(i), gradients.get(i)));
    }
    return all;
  }

  private static String name(Operand<?> value) {
    return value.asOutput().op().name() + ":" + value.asOutput().index();
  }

  /// Returns the call of an asynchronous training step.
  GraphCall asynchronousStep() {
    return new GraphCall(List.of(FEEDS.get(0), FEEDS.get(1), FACTOR), List.of(results.loss), train);
  }

  /// Returns the call of a synchronous step of worker `index`, which waits for the other workers.
  GraphCall synchronousStep(int index) {
    List<String> fetches = new ArrayList<>(List.of(results.loss));
    fetches.addAll(StepTokens.fetches(index));
    return new GraphCall(
        List.of(FEEDS.get(0), FEEDS.get(1), FACTOR, Accumulated.STEP), fetches, train);
  }

  /// Returns the call that takes and applies the gradients of a synchronous step.
  GraphCall takingStep() {
    return new GraphCall(List.of(StepTokens.NEXT), List.of(SUMMARY + ":0"), update);
  }

  /// Returns the call that evaluates a batch without training.
  GraphCall judgement() {
    List<String> fetches = new ArrayList<>(List.of(results.correct));
    fetches.addAll(results.scores);
    return new GraphCall(FEEDS, fetches, List.of());
  }
}
