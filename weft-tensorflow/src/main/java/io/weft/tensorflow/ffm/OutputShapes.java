// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

/// What is known of the shapes of an op's outputs when a graph is built.
public enum OutputShapes {
  /// Output i has the shape of input i.
  AS_INPUTS,
  /// Output i has the shape of input i but for the first extent, which is not known. An input that
  /// is known to be a scalar is refused.
  OTHER_ROWS,
  /// The one output is a scalar.
  SCALAR,
  /// Nothing.
  UNKNOWN
}
