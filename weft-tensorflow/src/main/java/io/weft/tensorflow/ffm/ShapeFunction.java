// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

/// The shapes of an op's outputs, as far as known when a graph is built.
public enum ShapeFunction {
  /// Output i has the shape of input i.
  AS_INPUTS,
  /// Output i has the shape of input i, except for the first extent, which is unknown. An input
  /// that is known to be a scalar is refused.
  OTHER_ROWS,
  /// The only output is a scalar.
  SCALAR,
  /// The shapes are unknown.
  UNKNOWN
}
