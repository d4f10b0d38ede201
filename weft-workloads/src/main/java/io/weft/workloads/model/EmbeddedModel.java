// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import io.weft.tensorflow.embedding.Lookup;
import io.weft.tensorflow.embedding.WeftEmbedding;
import io.weft.workloads.clicks.Ids;
import java.util.List;
import java.util.Optional;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;

/// The wide and deep network with its embeddings in tables of a parameter server. It owns its
/// graph.
///
/// @param graph with all of the tensors below
/// @param keys to feed: of shape batch by columns, encoded by `Ids.key`
/// @param labels to feed: one for each example of the batch
/// @param lossSum cross entropy summed over the batch; a scalar
/// @param correct the number of correct predictions in the batch; a scalar
/// @param score of shape batch: the probability of a click
/// @param variables weights and biases of the dense layers, in order of creation; only their
///   initial values if servers keep the learned differences
/// @param lookups of the rows in the tables
public record EmbeddedModel(
    Graph graph,
    Placeholder<TInt64> keys,
    Placeholder<TInt32> labels,
    Operand<TFloat32> lossSum,
    Operand<TInt32> correct,
    Operand<TFloat32> score,
    List<Variable<TFloat32>> variables,
    Lookups lookups)
    implements AutoCloseable {

  /// The lookups of rows.
  ///
  /// @param wide the lookup of weights
  /// @param deep the lookup of embeddings
  /// @param learned the dense parameters that servers keep; empty if the variables hold them
  public record Lookups(Lookup wide, Lookup deep, Optional<Learned> learned) {}

  /// The tables in which the network looks up rows.
  ///
  /// @param wide of width 1
  /// @param deep of width `EMBEDDED`
  /// @param dense the learned part of the dense layers; empty if the variables learn
  public record Tables(WeftEmbedding wide, WeftEmbedding deep, Optional<WeftEmbedding> dense) {}

  /// The number of floats in an embedding.
  public static final int EMBEDDED = WideDeep.EMBEDDED;

  /// The standard deviation of the initial embeddings.
  public static final float DEVIATION = WideDeep.DEVIATION;

  /// Builds the network.
  ///
  /// @param columns of categories
  /// @param seed of the initial weights of the dense layers
  public static EmbeddedModel of(int columns, long seed, Tables tables) {
    var network = new WideDeep(columns);
    var graph = new Graph();
    Ops tf = Ops.create(graph);
    Optional<Learned> learned =
        tables.dense().map(table -> Learned.of(tf, table, network.denseParameters()));
    Readings readings = learned.map(Learned::readings).orElse(Readings.VARIABLES);
    var layers = new Layers(graph, seed, Hidden.STANDARD, readings);
    var keys =
        tf.withName("keys")
            .placeholder(TInt64.class, Placeholder.shape(Shape.of(Shape.UNKNOWN_SIZE, columns)));
    var labels =
        tf.withName("labels")
            .placeholder(TInt32.class, Placeholder.shape(Shape.of(Shape.UNKNOWN_SIZE)));
    Lookup wide = tables.wide().lookup(tf, keys);
    Lookup deep = tables.deep().lookup(tf, keys);
    var sums = tf.sum(wide.rows(), tf.constant(1));
    var embedded = tf.reshape(deep.rows(), tf.constant(new int[] {-1, columns * EMBEDDED}));
    Operand<TFloat32> logits = network.logits(layers, embedded, sums);
    Verdict verdict = Verdict.of(tf, logits, labels, Workload.WIDE_DEEP.classes());
    return new EmbeddedModel(
        graph,
        keys,
        labels,
        verdict.lossSum(),
        verdict.correct(),
        verdict.clicks(tf),
        layers.variables(),
        new Lookups(wide, deep, learned));
  }

  /// Returns the current weights of the dense layers, in order of creation.
  public List<? extends Operand<TFloat32>> weights() {
    return lookups.learned.isPresent() ? lookups.learned.get().values() : variables;
  }

  /// Returns the number of weights and biases, including the rows of all categories of the columns.
  ///
  /// @param columns of categories
  public static long parameters(int columns) {
    return (long) columns * Ids.VOCABULARY * (1 + EMBEDDED)
        + new WideDeep(columns).denseParameters();
  }

  /// Returns the tensors with respect to which the gradients of the lookups are computed.
  public List<Output<TFloat32>> lookedUp() {
    return List.of(lookups.wide.raw(), lookups.deep.raw());
  }

  @Override
  public void close() {
    graph.close();
  }
}
