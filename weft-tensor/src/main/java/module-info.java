// SPDX-License-Identifier: Apache-2.0
/// Element types, tensors, and the kernels that reduce them. Pure functions without dependencies.
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the modules that use it are compiled later
module io.weft.tensor {
  requires static transitive org.jspecify;
  requires static jdk.incubator.vector;

  exports io.weft.tensor;
  exports io.weft.tensor.kernel to
      io.weft.comm,
      io.weft.dataparallel,
      io.weft.kv,
      io.weft.tensorflow;
  exports io.weft.tensor.quantize to
      io.weft.dataparallel,
      io.weft.kv;
}
