// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import io.weft.tensorflow.IndexedSlices;
import io.weft.tensorflow.embedding.Lookup;
import io.weft.tensorflow.embedding.WeftEmbedding;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;

/// The learned part of the dense layers' parameters in a table: the differences to their initial
/// values, stored consecutively in rows 0, 1, ... Each worker computes the initial values from the
/// seed, so the table needs no initialization. Used by one thread, which builds the graph.
public final class Learned {

  private final Ops tf;
  private final Lookup lookup;
  private final Operand<TFloat32> flat;
  private final long elements;
  private final List<Output<TFloat32>> parts = new ArrayList<>();
  private final List<Operand<TFloat32>> values = new ArrayList<>();
  private long given;

  private Learned(Ops tf, Lookup lookup, long elements) {
    this.tf = tf;
    this.lookup = lookup;
    this.flat = tf.reshape(lookup.rows(), tf.constant(new int[] {-1}));
    this.elements = elements;
  }

  /// @param elements the number of all weights and biases
  static Learned of(Ops tf, WeftEmbedding table, long elements) {
    long width = table.table().spec().width();
    long[] rows = LongStream.range(0, (elements + width - 1) / width).toArray();
    return new Learned(tf, table.lookup(tf, tf.constant(rows)), elements);
  }

  /// Returns the tensors that layers use.
  Readings readings() {
    return (first, input) -> added(first);
  }

  /// Returns the next weights or biases: their initial values plus the learned differences.
  ///
  /// @param first their initial values
  Output<TFloat32> added(Output<TFloat32> first) {
    Shape shape = first.shape();
    long count = shape.size();
    if (given + count > elements) {
      throw new IllegalStateException(
          "%s: %d elements more than the %d of the table"
              .formatted(first.op().name(), given + count - elements, elements));
    }
    var part = tf.slice(flat, tf.constant(new long[] {given}), tf.constant(new long[] {count}));
    given += count;
    parts.add(part.asOutput());
    Operand<TFloat32> value = tf.math.add(first, tf.reshape(part, tf.constant(shape.asArray())));
    values.add(value);
    return value.asOutput();
  }

  /// Returns the tensors with respect to which gradients are computed, in order of creation.
  public List<Output<TFloat32>> parts() {
    return List.copyOf(parts);
  }

  /// Returns the current values of all weights and biases, in order of creation.
  List<Operand<TFloat32>> values() {
    return List.copyOf(values);
  }

  /// Returns gradients as slices of the table; pushing them updates the table.
  ///
  /// @param gradients with respect to `parts`
  public IndexedSlices<TFloat32> slices(List<? extends Operand<TFloat32>> gradients) {
    List<Operand<TFloat32>> all = new ArrayList<>(gradients);
    long width = lookup.embedding().table().spec().width();
    int rest = (int) ((width - elements % width) % width);
    if (rest > 0) {
      all.add(tf.constant(new float[rest]));
    }
    Operand<TFloat32> joined = tf.concat(all, tf.constant(0));
    return lookup.embedding().slices(tf, List.of(lookup), List.of(joined));
  }
}
