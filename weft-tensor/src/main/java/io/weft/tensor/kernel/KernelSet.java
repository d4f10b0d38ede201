// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;

/// One implementation of every kernel: on vectors, on heap tiles, or element by element. All
/// implementations produce equal bits. Stateless; any thread.
interface KernelSet {

  /// Returns the name of this implementation for reports: "vector 512", "heap tiles" or "scalar".
  String description();

  /// Returns the reducer of this type and operation; AVERAGE reduces like SUM.
  ReduceKernel reducer(DType dtype, ReduceOp op);

  /// Returns the divider of this type.
  Divider divider(DType dtype);
}
