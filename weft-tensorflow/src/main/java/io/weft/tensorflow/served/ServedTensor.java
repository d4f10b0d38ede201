// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.served;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.KvTensor;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A dense tensor on servers for kernels: the value that was requested last, and free memory for
/// the next one. A pull never writes into memory that the backward pass may still read. Any thread.
final class ServedTensor {

  private final Weft weft;
  private final KvTensor tensor;
  private final Shape shape;
  private final int priority;
  private final WaitMeter waits;
  private final Deque<TensorLease> free = new ArrayDeque<>();
  private @Nullable PulledValue value;
  private boolean closed;
  private volatile @Nullable CommException failure;

  /// @param shape of the value in the graph
  /// @param priority of all requests; higher for a value that is needed earlier
  ServedTensor(Weft weft, KvTensor tensor, Shape shape, int priority, WaitMeter waits) {
    this.weft = weft;
    this.tensor = tensor;
    this.shape = shape;
    this.priority = priority;
    this.waits = waits;
  }

  KvTensor tensor() {
    return tensor;
  }

  WaitMeter waits() {
    return waits;
  }

  /// Returns the value that was requested last, which may not have arrived.
  synchronized PulledValue value() {
    if (value == null) {
      throw new IllegalStateException("no value was pulled; call ServedVariables.pull first");
    }
    return value;
  }

  /// Requests the value.
  void pull() throws InterruptedException {
    TensorLease memory = memory();
    var unused = requested(memory, () -> tensor.pull(memory.view().data(), priority));
  }

  /// Pushes a gradient. The caller then calls `pushed`. In an asynchronous table, one request also
  /// returns the value that results.
  ///
  /// @param gradient borrowed until the handle is done
  Handle<Void> push(MemorySegment gradient) throws InterruptedException {
    if (isBounded() || isSynchronous()) {
      return observed(tensor.push(gradient, priority));
    }
    TensorLease memory = memory();
    return requested(memory, () -> tensor.pushPull(gradient, memory.view().data(), priority));
  }

  /// Requests the value that results from a push to a synchronous table. A single request for both
  /// would keep its credits until the other workers have pushed, while they might lack credits to
  /// do so.
  void pushed() throws InterruptedException {
    if (isSynchronous()) {
      pull();
    }
  }

  /// Advances the worker's clock; see `KvTensor.clock`.
  Handle<Void> clock() throws InterruptedException {
    return observed(tensor.clock());
  }

  /// Returns whether pulls wait for the clocks of slower workers.
  boolean isBounded() {
    return tensor.spec().consistency().staleness() > 0;
  }

  /// Returns whether a push is the clock.
  boolean isSynchronous() {
    return tensor.spec().consistency().isSynchronous();
  }

  /// Throws the failure of an earlier request.
  void requireSound() {
    CommException wrong = failure;
    if (wrong != null) {
      throw wrong;
    }
  }

  /// Returns the first failure of a request; null without one.
  @Nullable CommException failure() {
    return failure;
  }

  /// A request that writes into memory.
  private interface Request {
    Handle<Void> begin() throws InterruptedException;
  }

  private Handle<Void> requested(TensorLease memory, Request request) throws InterruptedException {
    Handle<Void> handle;
    try {
      handle = observed(request.begin());
    } catch (InterruptedException | RuntimeException | Error refused) {
      giveBack(memory);
      throw refused;
    }
    replace(new PulledValue(handle, memory, this::giveBack));
    return handle;
  }

  private Handle<Void> observed(Handle<Void> handle) {
    handle.whenDone(
        (nothing, cause) -> {
          if (cause != null && failure == null) {
            failure = cause;
          }
        });
    return handle;
  }

  private void replace(@Nullable PulledValue next) {
    PulledValue before;
    synchronized (this) {
      before = value;
      value = next;
    }
    if (before != null) {
      before.replaced();
    }
  }

  private TensorLease memory() {
    synchronized (this) {
      TensorLease found = free.poll();
      if (found != null) {
        return found;
      }
    }
    return weft.allocate(DType.FLOAT32, shape);
  }

  private void giveBack(TensorLease memory) {
    synchronized (this) {
      if (!closed) {
        free.push(memory);
        return;
      }
    }
    memory.close();
  }

  /// Frees the memory that nothing uses, and the rest when its last use ends.
  void close() {
    List<TensorLease> unused;
    synchronized (this) {
      closed = true;
      unused = new ArrayList<>(free);
      free.clear();
    }
    unused.forEach(TensorLease::close);
    replace(null);
  }

  @Override
  public String toString() {
    return "tensor '" + tensor.spec().name() + "' on rank " + weft.rank();
  }
}
