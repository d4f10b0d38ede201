// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.types.TFloat32;

/// The tensors that layers use for their weights and biases.
@FunctionalInterface
public interface Readings {

  /// The values of the variables.
  Readings VARIABLES = (value, input) -> value;

  /// The end of the names of values; the beginning is the name of the variable.
  String SUFFIX = "_read";

  /// Returns the tensor that a layer uses in place of the value of a weight or bias. Called in the
  /// order in which the forward pass needs them.
  ///
  /// @param value of the variable, read from it; its name ends with `SUFFIX`
  /// @param input of the layer, which is computed before the tensor is needed
  Output<TFloat32> of(Output<TFloat32> value, Operand<TFloat32> input);
}
