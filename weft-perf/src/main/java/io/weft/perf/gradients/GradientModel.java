// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/// A network as its gradients show it: float32 tensors in the order in which a backward pass gives
/// them, last layer first, and what computing takes.
///
/// @param name on the command line
/// @param gradients in that order, at least one
/// @param forward how long a forward pass takes
/// @param backward how long a backward pass takes
public record GradientModel(
    String name, List<ModelGradient> gradients, Duration forward, Duration backward) {

  /// The most tensors of a model.
  static final int MOST_TENSORS = 100_000;

  /// Copies the list.
  public GradientModel {
    gradients = List.copyOf(gradients);
  }

  /// One gradient.
  ///
  /// @param name of its variable
  /// @param elements how many, at least 1
  /// @param ready when it is there, as a part of the backward pass: above 0, at most 1
  public record ModelGradient(String name, long elements, double ready) {

    /// Length in bytes.
    public long bytes() {
      return elements * Float.BYTES;
    }
  }

  /// So many tensors of one length, which are all there at once.
  static GradientModel uniform(int tensors, long bytes) {
    if (tensors < 1 || tensors > MOST_TENSORS) {
      throw new IllegalArgumentException(
          "--tensors: %d is out of range; allowed: 1 to %d".formatted(tensors, MOST_TENSORS));
    }
    if (bytes < Float.BYTES || bytes % Float.BYTES != 0 || bytes > 1L << 30) {
      throw new IllegalArgumentException(
          "--bytes: %d is no length of float32 numbers; allowed: multiples of 4 up to 1G"
              .formatted(bytes));
    }
    List<ModelGradient> all =
        IntStream.range(0, tensors)
            .mapToObj(k -> new ModelGradient("tensor_" + k, bytes / Float.BYTES, 1.0))
            .toList();
    return new GradientModel("uniform", all, Duration.ZERO, Duration.ZERO);
  }

  /// The same with another time of a step, shared between forward and backward as before.
  GradientModel taking(Duration step) {
    long whole = Span.nanos(forward.plus(backward));
    double part = whole == 0 ? 0 : (double) Span.nanos(forward) / whole;
    Duration first = Duration.ofNanos(Math.round(part * Span.nanos(step)));
    return new GradientModel(name, gradients, first, step.minus(first));
  }

  /// Bytes of all gradients.
  public long bytes() {
    return gradients.stream().mapToLong(ModelGradient::bytes).sum();
  }

  /// Length of the longest gradient.
  public long longestBytes() {
    return gradients.stream().mapToLong(ModelGradient::bytes).max().orElseThrow();
  }

  /// How many elements all gradients have.
  public long elements() {
    return gradients.stream().mapToLong(ModelGradient::elements).sum();
  }
}
