// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.WireHook;
import io.weft.comm.CommException;
import io.weft.dataparallel.frame.Collective;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An allreduce, from its submission until its handle is done.
///
/// @param signature the signature on which ranks must agree
/// @param narrowed the tensor in its narrower wire type; null = it is sent in its own type
/// @param submittedNanos submission time by the timeline's clock; 0 = not recorded
record PendingTensor(
    ReductionRequest request,
    TensorSignature signature,
    @Nullable NarrowedTensor narrowed,
    ReductionHandle<TensorView> handle,
    long submittedNanos)
    implements PendingOperation {

  /// @param group name of its group; empty = none
  /// @param groupSize tensors in the group; 0 = none
  /// @param spans the recorder of the program's waits
  static PendingTensor of(ReductionRequest request, String group, int groupSize, LayerSpans spans) {
    TensorSignature signature =
        new TensorSignature(
            Collective.ALLREDUCE,
            0,
            request.wire(),
            request.input().shape(),
            request.op(),
            new TensorSignature.Scaling(request.prescale(), request.postscale()),
            request.priority(),
            new TensorSignature.Group(group, groupSize));
    return new PendingTensor(
        request,
        signature,
        NarrowedTensor.of(request),
        new ReductionHandle<>("allreduce '" + request.name() + "'", spans),
        spans.now());
  }

  @Override
  public String name() {
    return request.name();
  }

  @Override
  public Duration deadline() {
    return request.deadline();
  }

  @Override
  public List<TensorView> tensors() {
    return List.of(request.input(), request.output());
  }

  @Override
  public List<TensorView> written() {
    return List.of(request.output());
  }

  /// Returns the hook that converts or scales the tensor when it is reduced by itself.
  WireHook hook() {
    NarrowedTensor narrow = narrowed;
    return narrow != null ? narrow : ReductionRequest.hook(request.prescale(), request.postscale());
  }

  /// Writes the tensor into its part of a buffer, in its wire type.
  ///
  /// Hot path.
  void copyIn(MemorySegment part) {
    if (narrowed == null && request.prescale() == 1) {
      part.copyFrom(request.input().data());
    } else {
      hook().copyIn(request.input(), wire(part));
    }
  }

  /// Writes the output from its part of the reduced buffer.
  ///
  /// Hot path.
  void copyOut(MemorySegment part) {
    if (narrowed == null && request.postscale() == 1) {
      request.output().data().copyFrom(part);
    } else {
      hook().copyOut(wire(part), request.output());
    }
  }

  private TensorView wire(MemorySegment part) {
    return new TensorView(request.wire(), request.input().shape(), part);
  }

  @Override
  public void fail(CommException cause) {
    handle.fail(cause);
  }
}
