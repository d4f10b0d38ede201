// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.comm.Handle;
import io.weft.kv.frame.Finite;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.StagingMemory;
import io.weft.kv.worker.TensorRequests;
import io.weft.kv.worker.TensorRequests.Travel;
import io.weft.kv.worker.WorkerLinks;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A dense tensor as a worker sees it: 32-bit floats at the servers, in parts that are spread over
/// the shards. Memory is borrowed until the handle is done; native memory is sent from, and written
/// to, where it lies. A segment holds FLOAT32; a view may be FLOAT16: then 2 bytes an element
/// travel, are added up as FLOAT32, and come back rounded to nearest even. Any thread.
///
/// What waits for credits goes by priority, higher first, part by part: a short tensor of a high
/// priority waits at most for what is on its way. Requests of one tensor keep their order if they
/// have one priority.
///
/// Handles fail as those of `KvTable` do.
public final class KvTensor extends KvStored {

  private final TensorRequests requests;
  private final StagingMemory staging;
  private final boolean first;

  /// @param first whether this worker's first values count
  KvTensor(WorkerLinks links, TableSpec spec, StagingMemory staging, boolean first) {
    this(new TensorRequests(links, spec), spec, staging, first);
  }

  private KvTensor(TensorRequests requests, TableSpec spec, StagingMemory staging, boolean first) {
    super(spec, requests.clock());
    this.requests = requests;
    this.staging = staging;
    this.first = first;
  }

  /// Gives it its first values, on all workers: those of the lowest rank among the workers count,
  /// as in KVStore, those of the others are not sent; done on each when the servers have them. A
  /// tensor that has some already keeps its values. Without this call it begins as its
  /// specification says. Fails after a push.
  public Handle<Void> init(MemorySegment values) throws InterruptedException {
    check(LentMemory.FIRST_VALUES, values, Values.FLOAT32);
    checkFinite(values, Values.FLOAT32);
    return requests.init(first ? values : MemorySegment.NULL);
  }

  /// Pushes FLOAT32. In a synchronous tensor this is the worker's next clock: every worker pushes
  /// as often, and what all have pushed is applied at once.
  public Handle<Void> push(MemorySegment values) throws InterruptedException {
    return push(values, 0);
  }

  /// The same with a priority.
  public Handle<Void> push(MemorySegment values, int priority) throws InterruptedException {
    Objects.requireNonNull(values, "values");
    return send(KvOp.PUSH, values, null, new Travel(Values.FLOAT32, priority));
  }

  /// The same of a view, FLOAT32 or FLOAT16; its shape is not looked at.
  public Handle<Void> push(TensorView values, int priority) throws InterruptedException {
    return send(KvOp.PUSH, values.data(), null, new Travel(format(values), priority));
  }

  /// Pushes in fewer bits, with error feedback: `fp16`, `int8`, `int4`, or `2bit:threshold=0.5`.
  /// Throws `IllegalArgumentException`, whose message tells what is allowed.
  public CompressedPushes compressed(String text) {
    return new CompressedPushes(spec(), PushCompression.parse(text), staging, this::pushEncoded);
  }

  private Handle<Void> pushEncoded(MemorySegment values, Values format, int priority)
      throws InterruptedException {
    return send(KvOp.PUSH, values, null, new Travel(format, priority));
  }

  /// Pulls FLOAT32. In a synchronous tensor it sees all pushes up to this worker's clock.
  public Handle<Void> pull(MemorySegment into) throws InterruptedException {
    return pull(into, 0);
  }

  /// The same with a priority.
  public Handle<Void> pull(MemorySegment into, int priority) throws InterruptedException {
    Objects.requireNonNull(into, "into");
    return send(KvOp.PULL, null, into, new Travel(Values.FLOAT32, priority));
  }

  /// The same into a view, FLOAT32 or FLOAT16.
  public Handle<Void> pull(TensorView into, int priority) throws InterruptedException {
    return send(KvOp.PULL, null, into.data(), new Travel(format(into), priority));
  }

  /// Pushes, and pulls what there is then. Both may be the same memory.
  public Handle<Void> pushPull(MemorySegment values, MemorySegment into)
      throws InterruptedException {
    return pushPull(values, into, 0);
  }

  /// The same with a priority.
  public Handle<Void> pushPull(MemorySegment values, MemorySegment into, int priority)
      throws InterruptedException {
    return send(KvOp.PUSH_PULL, values, into, new Travel(Values.FLOAT32, priority));
  }

  /// The same with views of one type, FLOAT32 or FLOAT16.
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
      check(LentMemory.PLACE, into, travel.format());
    }
    if (values != null) {
      check(LentMemory.VALUES, values, travel.format());
      checkFinite(values, travel.format());
    }
    return requests.send(op, values, into, travel);
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

  private void check(LentMemory what, MemorySegment memory, Values format) {
    long expected = format.bytes(spec().width());
    if (memory.byteSize() != expected) {
      throw new IllegalArgumentException(
          "tensor '%s': %s of %d bytes for %d elements of %s, expected %d"
              .formatted(spec().name(), what, memory.byteSize(), spec().width(), format, expected));
    }
    what.check(spec(), memory);
  }
}
