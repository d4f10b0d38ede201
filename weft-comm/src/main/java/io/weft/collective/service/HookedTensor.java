// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.WireHook;
import io.weft.memory.TensorPool;
import io.weft.tensor.DType;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import org.jspecify.annotations.Nullable;

/// A request's tensor in its form on the wire, between the two sides of its hook.
final class HookedTensor implements PendingHandle.CopyOut<TensorView> {

  private final WireHook hook;
  private final TensorView output;
  private final TensorView wire;
  private final @Nullable TensorLease lease;

  private HookedTensor(
      WireHook hook, TensorView output, TensorView wire, @Nullable TensorLease lease) {
    this.hook = hook;
    this.output = output;
    this.wire = wire;
    this.lease = lease;
  }

  /// Copies the input to the output or, if the type on the wire differs, to memory of `pool`.
  /// Throws the hook's exceptions.
  static HookedTensor copyIn(AllreduceRequest request, TensorPool pool) {
    WireHook hook = request.hook();
    DType type = hook.wireType(request.input().dtype());
    if (type == request.input().dtype()) {
      hook.copyIn(request.input(), request.output());
      return new HookedTensor(hook, request.output(), request.output(), null);
    }
    TensorLease lease = pool.allocate(type, request.input().shape());
    try {
      hook.copyIn(request.input(), lease.view());
    } catch (RuntimeException | Error thrown) {
      lease.close();
      throw thrown;
    }
    return new HookedTensor(hook, request.output(), lease.view(), lease);
  }

  /// Returns the tensor that is sent.
  TensorView wire() {
    return wire;
  }

  @Override
  public TensorView result(TensorView brought) {
    hook.copyOut(wire, output);
    return output;
  }

  @Override
  public void end() {
    if (lease != null) {
      lease.close();
    }
  }
}
