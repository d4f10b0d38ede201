// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ffm.HeldMemory;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The call of a loop on memory whose arena somebody might close meanwhile: it is held until the
/// loop has ended. One instance a thread, whose fields are the arguments, so that nothing is
/// allocated; empty between calls.
final class HeldRuns implements Runnable {

  private static final ThreadLocal<HeldRuns> OF_THREAD = ThreadLocal.withInitial(HeldRuns::new);

  private DType dtype = DType.FLOAT32;
  private @Nullable Reducer reducer;
  private Reducer.@Nullable Twin twin;
  private @Nullable Divider divider;
  private MemorySegment into = MemorySegment.NULL;
  private MemorySegment also = MemorySegment.NULL;
  private MemorySegment left = MemorySegment.NULL;
  private MemorySegment right = MemorySegment.NULL;
  private long at;
  private long alsoAt;
  private long p;
  private long q;
  private long length;
  private int divisor;

  private HeldRuns() {}

  static HeldRuns ofThread() {
    return OF_THREAD.get();
  }

  /// See `Runs.reduce`.
  ///
  /// Hot path.
  void reduce(
      Reducer loop,
      DType type,
      MemorySegment result,
      long resultAt,
      MemorySegment one,
      long oneAt,
      MemorySegment other,
      long otherAt,
      long elements) {
    reducer = loop;
    dtype = type;
    place(result, resultAt, result, resultAt);
    operands(one, oneAt, other, otherAt, elements);
    hold();
  }

  /// See `Runs.reduceTwice`.
  ///
  /// Hot path.
  void reduceTwice(
      Reducer.Twin loop,
      DType type,
      MemorySegment result,
      long resultAt,
      MemorySegment second,
      long secondAt,
      MemorySegment one,
      long oneAt,
      MemorySegment other,
      long otherAt,
      long elements) {
    twin = loop;
    dtype = type;
    place(result, resultAt, second, secondAt);
    operands(one, oneAt, other, otherAt, elements);
    hold();
  }

  /// See `Runs.stream`.
  ///
  /// Hot path.
  void stream(
      MemorySegment result,
      long resultAt,
      MemorySegment second,
      long secondAt,
      MemorySegment one,
      long oneAt,
      MemorySegment other,
      long otherAt,
      long bytes,
      int by) {
    divisor = by;
    place(result, resultAt, second, secondAt);
    operands(one, oneAt, other, otherAt, bytes);
    hold();
  }

  /// See `Runs.divide`.
  ///
  /// Hot path.
  void divide(Divider loop, DType type, MemorySegment data, long offset, long elements, int by) {
    divider = loop;
    dtype = type;
    divisor = by;
    place(data, offset, data, offset);
    operands(data, offset, data, offset, elements);
    hold();
  }

  private void place(MemorySegment result, long resultAt, MemorySegment second, long secondAt) {
    into = result;
    at = resultAt;
    also = second;
    alsoAt = secondAt;
  }

  private void operands(
      MemorySegment one, long oneAt, MemorySegment other, long otherAt, long howLong) {
    left = one;
    p = oneAt;
    right = other;
    q = otherAt;
    length = howLong;
  }

  private void hold() {
    try {
      HeldMemory memory = HeldMemory.ofThread();
      memory.add(into);
      memory.add(also);
      memory.add(left);
      memory.add(right);
      memory.run(this);
    } finally {
      reducer = null;
      twin = null;
      divider = null;
      place(MemorySegment.NULL, 0, MemorySegment.NULL, 0);
      operands(MemorySegment.NULL, 0, MemorySegment.NULL, 0, 0);
    }
  }

  @Override
  public void run() {
    if (reducer != null) {
      Runs.reduce(Objects.requireNonNull(reducer), dtype, into, at, left, p, right, q, length);
    } else if (twin != null) {
      Runs.reduceTwice(
          Objects.requireNonNull(twin), dtype, into, at, also, alsoAt, left, p, right, q, length);
    } else if (divider != null) {
      Runs.divide(Objects.requireNonNull(divider), dtype, into, at, length, divisor);
    } else {
      Runs.stream(into, at, also, alsoAt, left, p, right, q, length, divisor);
    }
  }
}
