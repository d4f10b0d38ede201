// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.comm.CommException;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;

/// An allreduce from its submission until its handle is done.
///
/// @param signature what ranks must agree on
/// @param submittedNanos by the clock of the timeline; 0 = not recorded
record PendingTensor(
    ReductionRequest request,
    TensorSignature signature,
    ReductionHandle<TensorView> handle,
    long submittedNanos)
    implements Pending {

  /// @param group name of its group; empty = none
  /// @param groupSize tensors in the group; 0 = none
  /// @param spans where the program's waiting is recorded
  static PendingTensor of(ReductionRequest request, String group, int groupSize, LayerSpans spans) {
    TensorSignature signature =
        new TensorSignature(
            request.input().dtype(),
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

  @Override
  public void fail(CommException cause) {
    handle.fail(cause);
  }
}
