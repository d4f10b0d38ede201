// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.Objects;

/// The hidden dense layers of a network.
///
/// @param size of the layers
/// @param activation of their neurons
/// @param dropout the fraction of their neurons that each training step leaves out at random; 0
///   leaves out none
public record Hidden(Size size, Activation activation, float dropout) {

  /// The layers that the workload defines.
  public static final Hidden STANDARD = new Hidden(Size.STANDARD, Activation.RELU, 0);

  /// Enlarged layers for digits and pictures.
  public static final Hidden ENLARGED = new Hidden(Size.ENLARGED, Activation.RELU, 0);

  /// The sizes of layers.
  public enum Size {
    /// The sizes that the workload defines.
    STANDARD,
    /// Two layers of 2048 and 1024 units, so that ranks exchange large gradients [PSLITE §4.2].
    ENLARGED
  }

  /// Throws `IllegalArgumentException` unless the dropout is from 0 to below 1.
  public Hidden {
    Objects.requireNonNull(size, "size");
    Objects.requireNonNull(activation, "activation");
    if (!(dropout >= 0 && dropout < 1)) {
      throw new IllegalArgumentException("a dropout of " + dropout);
    }
  }

  /// Returns these layers with another activation.
  public Hidden with(Activation other) {
    return new Hidden(size, other, dropout);
  }

  /// Returns these layers with another dropout.
  public Hidden with(float other) {
    return new Hidden(size, activation, other);
  }

  @Override
  public String toString() {
    return (size == Size.STANDARD ? "standard" : "enlarged")
        + (activation == Activation.RELU ? "" : "," + activation)
        + (dropout == 0 ? "" : ",dropout:" + dropout);
  }
}
