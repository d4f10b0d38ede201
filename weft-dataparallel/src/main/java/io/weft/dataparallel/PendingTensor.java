// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.WireHook;
import io.weft.comm.CommException;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An allreduce from its submission until its handle is done.
///
/// @param signature what ranks must agree on
/// @param narrowed its way in another type; null = in its own
/// @param submittedNanos by the clock of the timeline; 0 = not recorded
record PendingTensor(
    ReductionRequest request,
    TensorSignature signature,
    @Nullable NarrowedTensor narrowed,
    ReductionHandle<TensorView> handle,
    long submittedNanos)
    implements Pending {

  /// @param group name of its group; empty = none
  /// @param groupSize tensors in the group; 0 = none
  /// @param spans where the program's waiting is recorded
  static PendingTensor of(ReductionRequest request, String group, int groupSize, LayerSpans spans) {
    TensorSignature signature =
        new TensorSignature(
            request.wire(),
            request.input().shape(),
            request.op(),
            request.prescale(),
            request.postscale(),
            request.priority(),
            group,
            groupSize);
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

  /// What happens before and after the wire where it travels by itself.
  WireHook hook() {
    NarrowedTensor narrow = narrowed;
    return narrow != null ? narrow : ReductionRequest.hook(request.prescale(), request.postscale());
  }

  /// Writes what travels into its part of a buffer.
  ///
  /// Hot path.
  void copyIn(MemorySegment part) {
    if (narrowed == null && request.prescale() == 1) {
      part.copyFrom(request.input().data());
    } else {
      hook().copyIn(request.input(), wire(part));
    }
  }

  /// Writes the output from what came.
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
