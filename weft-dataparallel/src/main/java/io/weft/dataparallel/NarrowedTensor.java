// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.WireHook;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/// A FLOAT32 tensor that is sent as 16-bit numbers. An element of the sum is not finite if a rank's
/// number or the sum itself exceeds the range of the type. The sum has the same bits on all ranks,
/// so all ranks detect this without a message. The output is written only if all elements are
/// finite.
///
/// Used by one thread at a time. The completion of the reduction orders the writes of the thread
/// that ends it before the reads of the waiting thread.
final class NarrowedTensor implements WireHook {

  private final ReductionRequest request;
  private long badIndex = -1;
  private float badSum;

  private NarrowedTensor(ReductionRequest request) {
    this.request = request;
  }

  /// Returns the narrowed tensor; null = it is sent in its own type.
  static @Nullable NarrowedTensor of(ReductionRequest request) {
    return request.wire() == request.input().dtype() ? null : new NarrowedTensor(request);
  }

  ReductionRequest request() {
    return request;
  }

  /// Returns the index of the first element of the sum that is not finite; -1 = all elements are
  /// finite, or the reduction has failed.
  long badIndex() {
    return badIndex;
  }

  /// Returns the element at `badIndex`.
  float badSum() {
    return badSum;
  }

  @Override
  public DType wireType(DType own) {
    return request.wire();
  }

  /// Hot path.
  @Override
  public void copyIn(TensorView input, TensorView wire) {
    Kernels.convert(input, wire, request.prescale());
  }

  /// Hot path.
  @Override
  public void copyOut(TensorView wire, TensorView output) {
    badIndex = Kernels.firstNotFinite(wire);
    if (badIndex < 0) {
      Kernels.convert(wire, output, request.postscale());
    } else {
      badSum = (float) element(wire, badIndex);
    }
  }

  /// Returns the index of the first element of this rank's input that is not finite on the wire, or
  /// -1.
  long firstBadInput() {
    TensorView input = request.input();
    TensorView wire = memory(request.wire(), input.shape());
    Kernels.convert(input, wire, request.prescale());
    return Kernels.firstNotFinite(wire);
  }

  /// Returns an element of a FLOAT32 or 16-bit tensor.
  static double element(TensorView tensor, long index) {
    long bytes = tensor.dtype().bytes();
    TensorView one =
        new TensorView(tensor.dtype(), Shape.of(1), tensor.data().asSlice(index * bytes, bytes));
    TensorView wide = memory(DType.FLOAT32, Shape.of(1));
    Kernels.convert(one, wide);
    return wide.data().get(java.lang.foreign.ValueLayout.JAVA_FLOAT, 0);
  }

  private static TensorView memory(DType type, Shape shape) {
    return new TensorView(type, shape, Arena.ofAuto().allocate(TensorView.bytes(type, shape), 64));
  }
}
