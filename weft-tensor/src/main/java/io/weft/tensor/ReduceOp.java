// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

/// The operation that combines two elements into one. It is applied element by element and is
/// associative up to rounding.
public enum ReduceOp {
  /// The sum; integers wrap.
  SUM,
  /// The sum of all contributions, divided by their number after the last addition; integers
  /// truncate toward zero.
  AVERAGE,
  /// The smaller value; NaN if either value is NaN; -0 is smaller than +0.
  MIN,
  /// The larger value; NaN if either value is NaN; +0 is larger than -0.
  MAX,
  /// The product; integers wrap.
  PRODUCT
}
