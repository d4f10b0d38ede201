// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;

/// The hook that sends binary32 elements in 16 bits.
record Narrowing(DType narrow) implements WireHook {

  Narrowing {
    if (narrow != DType.FLOAT16 && narrow != DType.BFLOAT16) {
      throw new IllegalArgumentException("FLOAT32 is sent as FLOAT16 or BFLOAT16, not " + narrow);
    }
  }

  @Override
  public DType wireType(DType own) {
    return own == DType.FLOAT32 ? narrow : own;
  }

  @Override
  public void copyIn(TensorView input, TensorView wire) {
    if (input.dtype() != wire.dtype()) {
      Kernels.convert(input, wire);
    } else if (input.data().address() != wire.data().address()) {
      wire.data().copyFrom(input.data());
    }
  }

  @Override
  public void copyOut(TensorView wire, TensorView output) {
    if (wire.dtype() != output.dtype()) {
      Kernels.convert(wire, output);
    }
  }
}
