// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/// A network as a sequence of gradients: float32 tensors in the order of a backward pass, beginning
/// with the last layer, and the time of the computation.
///
/// @param name name on the command line
/// @param gradients the gradients in that order, at least one
/// @param forward duration of a forward pass
/// @param backward duration of a backward pass
public record GradientModel(
    String name, List<ModelGradient> gradients, Duration forward, Duration backward) {

  /// The maximum number of tensors of a model.
  static final int MOST_TENSORS = 100_000;

  /// Copies the list.
  public GradientModel {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(forward, "forward");
    Objects.requireNonNull(backward, "backward");
    gradients = List.copyOf(gradients);
  }

  /// One variable of a network.
  ///
  /// @param name the name
  /// @param elements number of elements, at least 1
  /// @param work multiplications of its layer in a forward pass, above 0; the backward pass is
  ///   divided among the variables in this proportion
  /// @param servedBytes bytes that a worker pushes to key-value servers in a step: of a table, only
  ///   the rows that the step uses, with their keys
  public record ModelVariable(String name, long elements, double work, long servedBytes) {

    /// Throws `NullPointerException` if the name is null.
    public ModelVariable {
      Objects.requireNonNull(name, "name");
    }

    /// Returns a variable of which each step uses all elements.
    public static ModelVariable dense(String name, long elements, double work) {
      return new ModelVariable(name, elements, work, elements * Float.BYTES);
    }
  }

  /// One gradient.
  ///
  /// @param name name of its variable
  /// @param elements number of elements, at least 1
  /// @param servedBytes bytes that a worker pushes to key-value servers in a step
  /// @param ready time of its completion as a fraction of the backward pass: above 0, at most 1
  public record ModelGradient(String name, long elements, long servedBytes, double ready) {

    /// Throws `NullPointerException` if the name is null.
    public ModelGradient {
      Objects.requireNonNull(name, "name");
    }

    /// Returns the size in bytes.
    public long bytes() {
      return elements * Float.BYTES;
    }
  }

  /// Returns the model of a network. The forward pass takes a third of the step. The gradients
  /// become ready from the last variable to the first, and the backward pass is divided among them
  /// in proportion to the work of their variables.
  ///
  /// @param forward the variables in the order of the forward pass, at least one
  /// @param step duration of forward and backward pass together
  public static GradientModel of(String name, List<ModelVariable> forward, Duration step) {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(forward, "forward");
    Objects.requireNonNull(step, "step");
    double all = forward.stream().mapToDouble(ModelVariable::work).sum();
    List<ModelGradient> gradients = new ArrayList<>();
    double done = 0;
    for (ModelVariable each : forward.reversed()) {
      done += each.work();
      gradients.add(
          new ModelGradient(
              each.name(), each.elements(), each.servedBytes(), Math.min(1, done / all)));
    }
    Duration first = step.dividedBy(3);
    return new GradientModel(name, gradients, first, step.minus(first));
  }

  /// Returns a model of tensors of equal size, which are all ready at once.
  static GradientModel uniform(int tensors, long bytes) {
    if (tensors < 1 || tensors > MOST_TENSORS) {
      throw new IllegalArgumentException(
          "--tensors: %d is out of range; allowed: 1 to %d".formatted(tensors, MOST_TENSORS));
    }
    if (bytes < Float.BYTES || bytes % Float.BYTES != 0 || bytes > 1L << 30) {
      throw new IllegalArgumentException(
          "--bytes: %d is not a size of float32 tensors; allowed: multiples of 4 up to 1G"
              .formatted(bytes));
    }
    List<ModelGradient> all =
        IntStream.range(0, tensors)
            .mapToObj(k -> new ModelGradient("tensor_" + k, bytes / Float.BYTES, bytes, 1.0))
            .toList();
    return new GradientModel("uniform", all, Duration.ZERO, Duration.ZERO);
  }

  /// Returns this model with another duration of a step, divided between forward and backward as
  /// before.
  public GradientModel taking(Duration step) {
    long whole = ClampedDuration.nanos(forward.plus(backward));
    double part = whole == 0 ? 0 : (double) ClampedDuration.nanos(forward) / whole;
    Duration first = Duration.ofNanos(Math.round(part * ClampedDuration.nanos(step)));
    return new GradientModel(name, gradients, first, step.minus(first));
  }

  /// Returns the duration of a step without communication.
  public Duration step() {
    return forward.plus(backward);
  }

  /// Returns the size of all gradients in bytes.
  public long bytes() {
    return gradients.stream().mapToLong(ModelGradient::bytes).sum();
  }

  /// Returns the size of the largest gradient in bytes.
  public long longestBytes() {
    return gradients.stream().mapToLong(ModelGradient::bytes).max().orElseThrow();
  }

  /// Returns the bytes that a worker pushes to key-value servers in a step.
  public long servedBytes() {
    return gradients.stream().mapToLong(ModelGradient::servedBytes).sum();
  }

  /// Returns the number of elements of all gradients.
  public long elements() {
    return gradients.stream().mapToLong(ModelGradient::elements).sum();
  }
}
