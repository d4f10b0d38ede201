// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.kv.spec.TableSpec;
import io.weft.memory.UserMemory;
import java.lang.foreign.MemorySegment;

/// The use of a worker's memory that is lent until a handle is done.
enum BorrowedMemory {
  /// Values to send.
  VALUES("values"),
  /// Values of `init` to send.
  FIRST_VALUES("first values"),
  /// The destination of answers.
  PLACE("place");

  private final String words;

  BorrowedMemory(String words) {
    this.words = words;
  }

  /// Throws `IllegalArgumentException` with a remedy if other threads cannot use the memory in this
  /// way.
  ///
  /// Hot path.
  void check(TableSpec spec, MemorySegment memory) {
    boolean open = this == PLACE ? UserMemory.isWritable(memory) : UserMemory.isReadable(memory);
    if (!open) {
      throw new IllegalArgumentException(
          "'%s': the %s of %d bytes %s"
              .formatted(spec.name(), this, memory.byteSize(), UserMemory.why(memory)));
    }
  }

  @Override
  public String toString() {
    return words;
  }
}
