// SPDX-License-Identifier: Apache-2.0
/// Element types, tensors, and the kernels that reduce them. Pure functions without dependencies.
@org.jspecify.annotations.NullMarked
module io.weft.tensor {
  requires static transitive org.jspecify;
  requires static jdk.incubator.vector;

  exports io.weft.tensor;
  exports io.weft.tensor.kernel;
  exports io.weft.tensor.quantize;
}
