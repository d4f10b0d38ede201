// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;

/// One way to run every kernel: on vectors, on heap tiles, or element by element. All ways give the
/// same bits. Stateless; any thread.
interface KernelSet {

  /// The name of this way, for reports: "vector 512", "heap tiles" or "scalar".
  String description();

  /// The reducer of this type and operation; AVERAGE reduces like SUM.
  Reducer reducer(DType dtype, ReduceOp op);

  /// The divider of this type.
  Divider divider(DType dtype);
}
