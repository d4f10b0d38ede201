// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.kv.spec.TableSpec;
import io.weft.memory.UserMemory;
import java.lang.foreign.MemorySegment;

/// What a worker's memory is lent for until a handle is done.
enum LentMemory {
  /// Read and sent.
  VALUES("values"),
  /// The same, of `init`.
  FIRST_VALUES("first values"),
  /// Answers are written there.
  PLACE("place");

  private final String words;

  LentMemory(String words) {
    this.words = words;
  }

  /// Throws `IllegalArgumentException` with what to do where other threads cannot use it so.
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
