// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.ScaleFactor;

/// The hook that multiplies before sending and after receiving.
record Scaling(double before, double after) implements WireHook {

  /// Throws `IllegalArgumentException` for a factor that is 0, infinite or not a number.
  Scaling {
    ScaleFactor.require("the factor before a reduction", DType.FLOAT64, before);
    ScaleFactor.require("the factor after a reduction", DType.FLOAT64, after);
  }

  @Override
  public DType wireType(DType own) {
    if (!own.floating()) {
      throw new IllegalArgumentException(this + " takes floating types, got " + own);
    }
    ScaleFactor.require("the factor before a reduction", own, before);
    ScaleFactor.require("the factor after a reduction", own, after);
    return own;
  }

  /// Also scales by 1 if the wire's memory is not the input's, because the input must be copied.
  @Override
  public void copyIn(TensorView input, TensorView wire) {
    if (before != 1 || input.data().address() != wire.data().address()) {
      Kernels.scale(input, wire, before);
    }
  }

  @Override
  public void copyOut(TensorView wire, TensorView output) {
    if (after != 1) {
      Kernels.scale(wire, output, after);
    }
  }
}
