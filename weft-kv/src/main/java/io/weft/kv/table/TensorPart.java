// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.kv.rule.UpdateRule;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// A contiguous part of a tensor's FLOAT32 elements, with the slots of its update rule, in native
/// memory. The values are initially zero. Confined to the thread that created it. Other threads get
/// `WrongThreadException`.
public final class TensorPart implements AutoCloseable {

  private final Arena arena = Arena.ofConfined();
  private final String owner;
  private final long elements;
  private final MemoryBudget budget;
  private final MemorySegment memory;
  private final ElementUpdates updates;

  /// Throws `MemoryBudgetException` if the part does not fit, and `IllegalArgumentException` if the
  /// rule has row slots.
  ///
  /// @param name for messages: the tensor's name and the part's number
  /// @param elements at least 1
  public TensorPart(String name, long elements, UpdateRule rule, MemoryBudget budget) {
    Objects.requireNonNull(name, "name");
    owner = "tensor '" + name + "'";
    if (elements < 1 || elements > Long.MAX_VALUE / Float.BYTES / (1 + rule.slots())) {
      throw new IllegalArgumentException(owner + ": a part of " + elements + " elements");
    }
    updates = new ElementUpdates(owner, rule, elements);
    this.elements = elements;
    this.budget = budget;
    long bytes = elements * Float.BYTES * (1 + rule.slots());
    budget.reserve(owner, bytes);
    memory = arena.allocate(bytes, 64);
    updates.initialize(memory, 0, elements * Float.BYTES, elements);
  }

  /// Returns the number of elements.
  public long elements() {
    return elements;
  }

  /// Returns the current values, read-only.
  public MemorySegment view() {
    return memory.asSlice(0, elements * Float.BYTES).asReadOnly();
  }

  /// Returns the bytes of values and slots, in memory and as exported.
  public long bytes() {
    return memory.byteSize();
  }

  /// Replaces the values of `count` elements from `first` on. Their slots do not change.
  ///
  /// @param values FLOAT32 from `offset` in bytes, of any alignment
  public void assign(long first, long count, MemorySegment values, long offset) {
    check(first, count, values, offset);
    MemorySegment.copy(
        values, JAVA_BYTE, offset, memory, JAVA_BYTE, first * Float.BYTES, count * Float.BYTES);
  }

  /// Writes `count` elements from `first` on to `into`.
  ///
  /// Hot path.
  ///
  /// @param into FLOAT32 from `offset` in bytes, of any alignment
  public void read(long first, long count, MemorySegment into, long offset) {
    check(first, count, into, offset);
    MemorySegment.copy(
        memory, JAVA_BYTE, first * Float.BYTES, into, JAVA_BYTE, offset, count * Float.BYTES);
  }

  /// Replaces the update rule of the next updates with one that has equal slots, such as another
  /// learning rate.
  public void use(UpdateRule rule) {
    updates.use(rule);
  }

  /// Applies a gradient to `count` elements from `first` on.
  ///
  /// Hot path.
  ///
  /// @param gradient FLOAT32 from `offset` in bytes, of any alignment
  /// @param step number of this update of the tensor, from 1
  public void update(long first, long count, MemorySegment gradient, long offset, long step) {
    check(first, count, gradient, offset);
    updates.apply(
        memory, first * Float.BYTES, elements * Float.BYTES, count, gradient, offset, step);
  }

  private void check(long first, long count, MemorySegment other, long offset) {
    if (first < 0 || count < 0 || first > elements - count) {
      throw new IndexOutOfBoundsException(
          "%s: %d elements from %d on of a part of %d".formatted(owner, count, first, elements));
    }
    checkRoom(count * Float.BYTES, other, offset);
  }

  private void checkRoom(long bytes, MemorySegment other, long offset) {
    if (offset < 0 || bytes > other.byteSize() - offset) {
      throw new IndexOutOfBoundsException(
          "%s: %d bytes, but there are %d from offset %d on"
              .formatted(owner, bytes, other.byteSize() - offset, offset));
    }
  }

  /// Writes bytes of values and slots into the available space.
  ///
  /// @param from the first byte, 0 to `bytes()`
  /// @param into from `offset` in bytes
  /// @return the number of bytes
  public long export(long from, MemorySegment into, long offset) {
    long count = Math.min(memory.byteSize() - from, into.byteSize() - offset);
    MemorySegment.copy(memory, from, into, offset, count);
    return count;
  }

  /// Imports bytes that `export` wrote from a part of the same length and rule.
  ///
  /// @param at offset of the first byte, 0 to `bytes()`
  /// @param from from `offset` in bytes
  public void importBytes(long at, MemorySegment from, long offset, long count) {
    if (at < 0 || count < 0 || at > memory.byteSize() - count) {
      throw new IndexOutOfBoundsException(
          "%s: %d bytes at %d of %d".formatted(owner, count, at, memory.byteSize()));
    }
    checkRoom(count, from, offset);
    MemorySegment.copy(from, offset, memory, at, count);
  }

  /// Frees the memory and returns it to the budget.
  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
      budget.release(memory.byteSize());
    }
  }
}
