// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.dataparallel.CollectiveRequest.Broadcast;
import io.weft.dataparallel.ObjectCodec;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.ReductionRequest;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The parameters of a model on one rank, and their exchange with the other ranks. Tensors are
/// matched by the names of parameters, because DJL's identifiers differ between processes. All
/// ranks must call the same methods in the same order. Confined to one thread.
final class ParameterExchange {

  private static final String GRADIENT = "djl/gradient/";
  private static final String WEIGHT = "djl/weight/";

  /// The time for which the calling thread drives an exchange; afterwards it parks.
  private static final Duration LONGEST_DRIVE = Duration.ofSeconds(1);

  private final Reducer reducer;
  private final Model model;
  private final StepOptions options;
  private List<TrainedGradient> gradients = List.of();
  private List<ReductionRequest> requests = List.of();
  private boolean agreed;

  ParameterExchange(Reducer reducer, Model model) {
    this(reducer, model, StepOptions.DEFAULT);
  }

  ParameterExchange(Reducer reducer, Model model, StepOptions options) {
    this.reducer = Objects.requireNonNull(reducer, "reducer");
    this.model = Objects.requireNonNull(model, "model");
    this.options = Objects.requireNonNull(options, "options");
  }

  /// A parameter and the request for the average of its gradient. PyTorch accumulates gradients in
  /// place, so that a gradient is registered once, and again only if its address changes.
  private static final class TrainedGradient {

    private final String name;
    private final Parameter parameter;
    private @Nullable ReductionRequest request;

    TrainedGradient(String name, Parameter parameter) {
      this.name = name;
      this.parameter = parameter;
    }

    /// Finds the gradient. Returns whether the request has changed.
    boolean locate(int rank) {
      if (!parameter.requiresGradient()) {
        boolean before = request != null;
        request = null;
        return before;
      }
      NDArray weights = parameter.getArray();
      try (NDArray gradient = weights.getGradient()) {
        long address = ArrayMemory.memory(gradient).address();
        if (request != null && request.input().data().address() == address) {
          return false;
        }
        requireExisting(rank, weights, address);
        TensorView view = ArrayMemory.of("the gradient of parameter '" + name + "'", gradient);
        request = ReductionRequest.of(GRADIENT + name, view, ReduceOp.AVERAGE);
        return true;
      }
    }

    /// Multiplies the gradient in place.
    void scale(float factor) {
      if (request != null) {
        try (NDArray gradient = parameter.getArray().getGradient()) {
          gradient.muli(factor);
        }
      }
    }

    /// Throws `IllegalStateException` if PyTorch has no gradient for these weights. DJL then
    /// returns a different array of zeros for each call, whose average would not reach the weights.
    private void requireExisting(int rank, NDArray weights, long address) {
      try (NDArray again = weights.getGradient()) {
        if (ArrayMemory.memory(again).address() != address) {
          throw new IllegalStateException(
              "parameter '%s' has no gradient on rank %d, expected one from backward; let the loss depend on it on all ranks, or freeze it on all ranks"
                  .formatted(name, rank));
        }
      }
    }
  }

  /// Averages the gradients of all trained parameters over the ranks, in PyTorch's memory, as one
  /// group that the data-parallel layer fuses. Divides them by the passes that PyTorch has added,
  /// and clips them.
  ///
  /// @param largestNorm of all gradients together, in place of that of the options
  void averageGradients(double largestNorm) {
    if (reducer.size() == 1 && options.passes() == 1 && largestNorm == Double.POSITIVE_INFINITY) {
      return;
    }
    agree();
    List<ReductionRequest> group = located();
    if (group.isEmpty()) {
      return;
    }
    if (reducer.size() > 1) {
      await(reducer.drive(() -> reducer.reduceAll(group), LONGEST_DRIVE));
    }
    clip(group, largestNorm);
  }

  private void clip(List<ReductionRequest> group, double largestNorm) {
    double factor = 1.0 / options.passes();
    if (largestNorm < Double.POSITIVE_INFINITY) {
      double norm = factor * GradientNorm.of(group.stream().map(ReductionRequest::output).toList());
      factor *= norm > largestNorm ? largestNorm / norm : 1;
    }
    if (factor != 1) {
      for (TrainedGradient each : gradients) {
        each.scale((float) factor);
      }
    }
  }

  /// Takes the place of the first `averageGradients` if the weights may differ between ranks. If
  /// they differ, all ranks take weights and gradients of rank 0.
  void averageFirstGradients() {
    agree();
    if (reducer.size() == 1 || haveEqualWeights()) {
      averageGradients(options.largestNorm());
      return;
    }
    broadcast(0);
    List<Broadcast> all =
        located().stream().map(each -> Broadcast.of(each.name(), each.input(), 0)).toList();
    await(reducer.submitAll(all));
    clip(located(), options.largestNorm());
  }

  /// Copies all parameters of rank `root`, including frozen ones, to the other ranks.
  void broadcast(int root) {
    if (root < 0 || root >= reducer.size()) {
      throw new IllegalArgumentException(
          "root " + root + " of a broadcast to " + reducer.size() + " ranks");
    }
    agree();
    if (reducer.size() == 1) {
      return;
    }
    List<Broadcast> all = new ArrayList<>();
    weights().forEach((name, view) -> all.add(Broadcast.of(WEIGHT + name, view, root)));
    await(reducer.submitAll(all));
  }

  /// Throws `IllegalStateException` if a trained parameter has no gradient, after a broadcast.
  void requireGradients() {
    var unused = located();
  }

  /// Replaces each value by its mean over the ranks.
  void average(Map<String, Float> values) {
    if (reducer.size() == 1 || values.isEmpty()) {
      return;
    }
    List<String> names = values.keySet().stream().sorted().toList();
    try (Arena arena = Arena.ofShared()) {
      var memory = arena.allocate(ValueLayout.JAVA_FLOAT, names.size());
      for (int i = 0; i < names.size(); i++) {
        float value = Objects.requireNonNull(values.get(names.get(i)));
        memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
      }
      var view = new TensorView(DType.FLOAT32, Shape.of(names.size()), memory);
      await(reducer.allreduce(ReductionRequest.of("djl/evaluations", view, ReduceOp.AVERAGE)));
      for (int i = 0; i < names.size(); i++) {
        values.put(names.get(i), memory.getAtIndex(ValueLayout.JAVA_FLOAT, i));
      }
    }
  }

  /// Returns a fingerprint of all parameters, which is equal exactly if they are.
  String digest() {
    return WeightsFingerprint.of(weights());
  }

  /// Returns the parameters that are not frozen, by name, in PyTorch's memory.
  SequencedMap<String, TensorView> trainedWeights() {
    return weights(Parameter::requiresGradient);
  }

  private SortedMap<String, TensorView> weights() {
    return weights(_ -> true);
  }

  private SortedMap<String, TensorView> weights(Predicate<Parameter> which) {
    SortedMap<String, TensorView> weights = new TreeMap<>();
    for (Pair<String, Parameter> each : model.getBlock().getParameters()) {
      String name = each.getKey();
      if (which.test(each.getValue())) {
        weights.put(name, ArrayMemory.of("parameter '" + name + "'", each.getValue().getArray()));
      }
    }
    return weights;
  }

  private List<ReductionRequest> located() {
    boolean changed = false;
    for (TrainedGradient each : gradients) {
      changed |= each.locate(reducer.rank());
    }
    if (changed) {
      List<ReductionRequest> found = new ArrayList<>();
      for (TrainedGradient each : gradients) {
        if (each.request != null) {
          found.add(each.request);
        }
      }
      requests = found;
    }
    return requests;
  }

  /// Compares the parameters of all ranks, once.
  private void agree() {
    if (agreed) {
      return;
    }
    ModelSignature.requireEqual(reducer, model);
    requireEqualOptions();
    List<TrainedGradient> found = new ArrayList<>();
    model
        .getBlock()
        .getParameters()
        .forEach(each -> found.add(new TrainedGradient(each.getKey(), each.getValue())));
    gradients = found;
    agreed = true;
  }

  private void requireEqualOptions() {
    List<String> all = gathered("djl/options", options.toString());
    for (int rank = 1; rank < all.size(); rank++) {
      if (!all.get(rank).equals(all.getFirst())) {
        throw new CommException.Mismatch(
            "model '%s': rank %d has %s, expected %s, as on rank 0; give all ranks equal options"
                .formatted(model.getName(), rank, all.get(rank), all.getFirst()));
      }
    }
  }

  private boolean haveEqualWeights() {
    return gathered("djl/digest", digest()).stream().distinct().count() == 1;
  }

  private List<String> gathered(String name, String own) {
    try {
      return reducer.allgatherObject(name, own, ObjectCodec.text());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ranks compare their models", e);
    }
  }

  /// Waits for the operation despite interrupts, because it borrows PyTorch's memory until it
  /// completes or its deadline passes.
  private static void await(Handle<?> handle) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          var unused = handle.await();
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
