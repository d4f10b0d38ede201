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

/// What dense layers have learned, in a table: the differences to their first values, which each
/// worker makes by itself from the seed, one behind the other in rows 0, 1, ... So nobody has to
/// give the table its first values. One thread, while the graph is built.
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

  /// @param elements of all weights and biases
  static Learned of(Ops tf, WeftEmbedding table, long elements) {
    long width = table.table().spec().width();
    long[] rows = LongStream.range(0, (elements + width - 1) / width).toArray();
    return new Learned(tf, table.lookup(tf, tf.constant(rows)), elements);
  }

  /// The next weights or biases.
  ///
  /// @param first their first values
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

  /// What gradients are asked by, in order.
  public List<Output<TFloat32>> parts() {
    return List.copyOf(parts);
  }

  /// All weights and biases as they are, in order.
  List<Operand<TFloat32>> values() {
    return List.copyOf(values);
  }

  /// Pushed, these change the table.
  ///
  /// @param gradients by `parts`
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
