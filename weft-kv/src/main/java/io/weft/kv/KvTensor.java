// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.comm.Handle;
import io.weft.kv.frame.Finite;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.TensorRequests;
import io.weft.kv.worker.TensorRequests.Travel;
import io.weft.tensor.DType;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// A worker's view of a dense tensor: 32-bit floats on the servers, in parts that are spread over
/// the shards. Memory is borrowed until the handle is done. Native memory is sent from and received
/// into directly. A segment holds FLOAT32. A view may be FLOAT16, which is sent as 2 bytes per
/// element, added as FLOAT32, and returned rounded to nearest even. Any thread.
///
/// Requests that wait for credits are sent by priority, higher first, part by part. A short tensor
/// of a high priority thus waits at most for the parts in flight. Requests of one tensor and one
/// priority keep their order.
///
/// With `KvOptions.Levels.TWO` the workers of a host sum their pushes first. They must make the
/// same calls in the same order, wait for a push or pull before the next one, and use FLOAT32 in
/// native memory.
///
/// Handles fail like those of `KvTable`.
public final class KvTensor extends KvObject {

  private final TensorRequests requests;
  private final LongFunction<TensorLease> staging;
  private final boolean first;
  private final @Nullable HostLevel host;

  /// @param first true if `init` sends this worker's values
  /// @param host sums the pushes of the host's workers; null = each worker pushes to the servers
  KvTensor(
      TensorRequests requests,
      TableSpec spec,
      LongFunction<TensorLease> staging,
      boolean first,
      @Nullable HostLevel host) {
    super(spec, requests.clock());
    this.requests = requests;
    this.staging = staging;
    this.first = first;
    this.host = host;
  }

  /// Sets the first values. All workers must call it. Only the values of the lowest worker rank are
  /// sent, as in KVStore. The handle of each worker is done when the servers have the values, and
  /// fails if the tensor was pushed before it had first values. A tensor that already has first
  /// values keeps them. Without this call the tensor begins with the initial values of its
  /// specification.
  public Handle<Void> init(MemorySegment values) throws InterruptedException {
    check(BorrowedMemory.FIRST_VALUES, values, Values.FLOAT32);
    checkFinite(values, Values.FLOAT32);
    MemorySegment sent = first ? values : MemorySegment.NULL;
    return host == null ? requests.init(sent) : host.init(sent);
  }

  /// Pushes FLOAT32. In a synchronous tensor each push begins the worker's next clock, as in
  /// `KvTable`.
  public Handle<Void> push(MemorySegment values) throws InterruptedException {
    return push(values, 0);
  }

  /// Pushes FLOAT32 with a priority.
  public Handle<Void> push(MemorySegment values, int priority) throws InterruptedException {
    Objects.requireNonNull(values, "values");
    return send(KvOp.PUSH, values, null, new Travel(Values.FLOAT32, priority));
  }

  /// Pushes a FLOAT32 or FLOAT16 view, whose shape is ignored, with a priority.
  public Handle<Void> push(TensorView values, int priority) throws InterruptedException {
    return send(KvOp.PUSH, values.data(), null, new Travel(format(values), priority));
  }

  /// Returns an object that pushes compressed gradients with error feedback: `fp16`, `int8`,
  /// `int4`, or `2bit:threshold=0.5`. Throws `IllegalArgumentException` with the allowed formats,
  /// and `IllegalStateException` if the workers of a host sum their pushes.
  public CompressedPushes compressed(String text) {
    if (host != null) {
      throw new IllegalStateException(
          "tensor '%s': the workers of a host sum FLOAT32 before a push; compress with KVStore or Levels.ONE"
              .formatted(spec().name()));
    }
    return new CompressedPushes(spec(), PushCompression.parse(text), staging, this::pushEncoded);
  }

  private Handle<Void> pushEncoded(MemorySegment values, Values format, int priority)
      throws InterruptedException {
    return send(KvOp.PUSH, values, null, new Travel(format, priority));
  }

  /// Pulls FLOAT32. In a synchronous tensor the pull sees all pushes up to this worker's clock.
  public Handle<Void> pull(MemorySegment into) throws InterruptedException {
    return pull(into, 0);
  }

  /// Pulls FLOAT32 with a priority.
  public Handle<Void> pull(MemorySegment into, int priority) throws InterruptedException {
    Objects.requireNonNull(into, "into");
    return send(KvOp.PULL, null, into, new Travel(Values.FLOAT32, priority));
  }

  /// Pulls into a FLOAT32 or FLOAT16 view with a priority.
  public Handle<Void> pull(TensorView into, int priority) throws InterruptedException {
    return send(KvOp.PULL, null, into.data(), new Travel(format(into), priority));
  }

  /// Pushes values and pulls the values that result. Both may be the same memory.
  public Handle<Void> pushPull(MemorySegment values, MemorySegment into)
      throws InterruptedException {
    return pushPull(values, into, 0);
  }

  /// Pushes and pulls with a priority.
  public Handle<Void> pushPull(MemorySegment values, MemorySegment into, int priority)
      throws InterruptedException {
    return send(KvOp.PUSH_PULL, values, into, new Travel(Values.FLOAT32, priority));
  }

  /// Pushes and pulls views of one type, FLOAT32 or FLOAT16, with a priority.
  public Handle<Void> pushPull(TensorView values, TensorView into, int priority)
      throws InterruptedException {
    if (values.dtype() != into.dtype()) {
      throw new IllegalArgumentException(
          "tensor '%s': pushed as %s, pulled as %s; one type for both"
              .formatted(spec().name(), values.dtype(), into.dtype()));
    }
    return send(KvOp.PUSH_PULL, values.data(), into.data(), new Travel(format(values), priority));
  }

  private Handle<Void> send(
      KvOp op, @Nullable MemorySegment values, @Nullable MemorySegment into, Travel travel)
      throws InterruptedException {
    if (into != null) {
      check(BorrowedMemory.PLACE, into, travel.format());
    }
    if (values != null) {
      check(BorrowedMemory.VALUES, values, travel.format());
      checkFinite(values, travel.format());
    }
    return host == null ? requests.send(op, values, into, travel) : host.send(values, into, travel);
  }

  private Values format(TensorView view) {
    if (view.dtype() == DType.FLOAT32) {
      return Values.FLOAT32;
    }
    if (view.dtype() == DType.FLOAT16) {
      return Values.FLOAT16;
    }
    throw new IllegalArgumentException(
        "tensor '%s': %s; servers take FLOAT32 and FLOAT16"
            .formatted(spec().name(), view.signature()));
  }

  private void checkFinite(MemorySegment values, Values format) {
    if (spec().checks() == TableSpec.Checks.FINITE) {
      long at = Finite.firstOther(values, format);
      if (at >= 0) {
        throw new IllegalArgumentException(
            "tensor '%s': value %s of element %d is not finite; nothing was sent"
                .formatted(spec().name(), Finite.text(values, at, format), at));
      }
    }
  }

  private void check(BorrowedMemory what, MemorySegment memory, Values format) {
    long expected = format.bytes(spec().width());
    if (memory.byteSize() != expected) {
      throw new IllegalArgumentException(
          "tensor '%s': %s of %d bytes for %d elements of %s, expected %d"
              .formatted(spec().name(), what, memory.byteSize(), spec().width(), format, expected));
    }
    what.check(spec(), memory);
  }
}
