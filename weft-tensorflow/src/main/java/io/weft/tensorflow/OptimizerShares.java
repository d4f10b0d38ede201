// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensorflow.DistributedOptimizer.Share;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.Output;
import org.tensorflow.framework.optimizers.Optimizer.GradAndVar;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.NoOp;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.family.TType;

/// The shares of the variables that one rank updates. In a step, gradients are reduce-scattered, so
/// each rank receives its share of their mean. The local optimizer updates a copy of the rank's
/// share of the weights, and the new weights are allgathered [RRRH20 §5.1]. A rank holds only its
/// share of the optimizer's state.
///
/// A bucket concatenates flattened variables. Its N elements are divided like the rows of a
/// reduceScatter: rank r of n has N/n elements, plus one if r < N mod n.
final class OptimizerShares {

  /// The prefix of the names of share variables.
  private static final String PREFIX = "weft_share_";

  /// The maximum bucket size. A larger bucket would be sent late in the backward pass.
  private static final long BUCKET_BYTES = 4 << 20;

  private final Ops tf;
  private final WeftOps weft;
  private final GradientOptions options;
  private final int rank;
  private final int size;
  private final List<Bucket<?>> buckets = new ArrayList<>();

  /// @param share this rank's part of the weights during the update
  private record Bucket<T extends TType>(
      List<Output<T>> variables, Variable<T> share, Share place) {}

  /// @param size the number of ranks of the communicator, at least 2
  OptimizerShares(Graph graph, WeftOps weft, GradientOptions options, int rank, int size) {
    this.tf = Ops.create(graph);
    this.weft = weft;
    this.options = options;
    this.rank = rank;
    this.size = size;
  }

  /// Returns whether a variable holds a share, or the optimizer's state of a share, and thus
  /// differs between ranks.
  static boolean isOwn(String variable) {
    return variable.startsWith(PREFIX);
  }

  /// Adds the ops that compute this rank's share of the mean of these gradients, and the variables
  /// that the local optimizer updates. Throws `IllegalArgumentException` for a variable of unknown
  /// shape.
  ///
  /// @param gradients by variable
  List<GradAndVar<?>> of(Map<String, GradAndVar<?>> gradients) {
    List<GradAndVar<?>> shares = new ArrayList<>();
    List<String> variables = List.copyOf(gradients.keySet());
    List<List<String>> groups =
        options.grouping() == Grouping.SINGLE
            ? List.of(variables)
            : options.grouping().cut(variables);
    for (List<String> names : groups) {
      Map<Class<?>, List<GradAndVar<?>>> byType = new LinkedHashMap<>();
      for (String name : names) {
        GradAndVar<?> gradient = DistributedOptimizer.of(name, gradients);
        byType.computeIfAbsent(gradient.getGradient().type(), _ -> new ArrayList<>()).add(gradient);
      }
      byType.values().forEach(alike -> cut(alike).forEach(bucket -> shares.add(share(bucket))));
    }
    return shares;
  }

  private static List<List<GradAndVar<?>>> cut(List<GradAndVar<?>> gradients) {
    List<List<GradAndVar<?>>> cut = new ArrayList<>();
    long bytes = BUCKET_BYTES;
    for (GradAndVar<?> gradient : gradients) {
      Output<?> variable = gradient.getVariable();
      long more = elements(variable) * DataTypes.of(gradient.getGradient().dataType()).bytes();
      if (bytes + more > BUCKET_BYTES) {
        cut.add(new ArrayList<>());
        bytes = 0;
      }
      cut.getLast().add(gradient);
      bytes += more;
    }
    return cut;
  }

  private static long elements(Output<?> variable) {
    long elements = variable.shape().size();
    if (elements < 0) {
      throw new IllegalArgumentException(
          "variable '"
              + variable.op().name()
              + "' has the shape "
              + variable.shape()
              + "; its share needs a known one");
    }
    return elements;
  }

  @SuppressWarnings("unchecked") // a bucket has one type
  private <T extends TType> GradAndVar<T> share(List<GradAndVar<?>> bucket) {
    List<Output<T>> variables = new ArrayList<>();
    List<Operand<T>> parts = new ArrayList<>();
    long whole = 0;
    for (GradAndVar<?> gradient : bucket) {
      GradAndVar<T> typed = (GradAndVar<T>) gradient;
      variables.add(typed.getVariable());
      parts.add(flat(tf, typed.getGradient()));
      whole += elements(typed.getVariable());
    }
    String first = variables.getFirst().op().name();
    long least = whole / size;
    long begin = rank * least + Math.min(rank, whole % size);
    var place =
        new Share(
            PREFIX + buckets.size(),
            variables.stream().map(variable -> variable.op().name()).toList(),
            begin,
            least + (rank < whole % size ? 1 : 0),
            whole);
    Operand<T> all = joined(tf, parts);
    Operand<T> mine = weft.gradientShare(all, "weft/gradient/" + first, options);
    Variable<T> share =
        tf.withName(place.variable()).variable(Shape.of(place.elements()), all.type());
    Ops init = tf.withInitScope();
    init.assign(share, init.zeros(init.constant(new long[] {place.elements()}), all.type()));
    // Loads while gradients are in flight, and only in runs in which an accumulation releases them.
    Ops ready = tf.withControlDependencies(List.of(all));
    Op loaded = ready.assign(share, weights(ready, variables, place));
    buckets.add(new Bucket<>(variables, share, place));
    Operand<T> gradient = tf.withControlDependencies(List.of(loaded)).identity(mine);
    return new GradAndVar<>(gradient.asOutput(), share.asOutput());
  }

  private static <T extends TType> Operand<T> weights(
      Ops tf, List<Output<T>> variables, Share share) {
    List<Operand<T>> parts = new ArrayList<>();
    long end = share.first() + share.elements();
    long at = 0;
    for (Output<T> variable : variables) {
      long elements = elements(variable);
      long from = Math.max(at, share.first());
      long to = Math.min(at + elements, end);
      if (from < to) {
        parts.add(part(tf, flat(tf, variable), from - at, to - from));
      }
      at += elements;
    }
    return parts.isEmpty() ? part(tf, flat(tf, variables.getFirst()), 0, 0) : joined(tf, parts);
  }

  /// Adds the ops that assign all variables their new values after `step`, which updates the
  /// shares. Returns an op that runs all of them.
  Op writtenBack(Op step) {
    Ops after = tf.withControlDependencies(List.of(step));
    List<Operation> assigned = new ArrayList<>();
    for (Bucket<?> bucket : buckets) {
      writeBack(after, bucket, assigned);
    }
    return NoOp.create(tf.scope().withName("weft_shares").withControlDependencyOps(assigned));
  }

  private <T extends TType> void writeBack(
      Ops after, Bucket<T> bucket, Collection<Operation> assigned) {
    Operand<T> mine = after.identity(bucket.share());
    String first = bucket.variables().getFirst().op().name();
    Operand<T> all = weft.allgather(mine, "weft/weights/" + first);
    long at = 0;
    for (Output<T> variable : bucket.variables()) {
      long elements = elements(variable);
      Operand<T> value =
          tf.reshape(part(tf, all, at, elements), tf.constant(variable.shape().asArray()));
      assigned.add(tf.assign(variable, value).op());
      at += elements;
    }
  }

  /// Returns the positions of this rank's shares in the order of the buckets.
  List<Share> places() {
    return buckets.stream().<Share>map(Bucket::place).toList();
  }

  private static <T extends TType> Operand<T> flat(Ops tf, Operand<T> value) {
    return tf.reshape(value, tf.constant(new long[] {-1}));
  }

  private static <T extends TType> Operand<T> joined(Ops tf, List<Operand<T>> parts) {
    return parts.size() == 1 ? parts.getFirst() : tf.concat(parts, tf.constant(0));
  }

  private static <T extends TType> Operand<T> part(
      Ops tf, Operand<T> flat, long first, long elements) {
    return tf.slice(flat, tf.constant(new long[] {first}), tf.constant(new long[] {elements}));
  }
}
