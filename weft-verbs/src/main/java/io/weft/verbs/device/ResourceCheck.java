// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.verbs.ffm.Structs;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/// Checks that the library's structures have the expected layout, by comparing fields with known
/// values. A library with another layout is thus rejected at the first resource instead of being
/// misread.
final class ResourceCheck {

  private static final long EXTENDED = -1;
  private static final long MAX_CONTEXT_BYTES = 1 << 16;

  private final String library;
  private final String struct;
  private final StructLayout layout;
  private final MemorySegment memory;

  ResourceCheck(String library, String struct, StructLayout layout, MemorySegment memory) {
    this.library = library;
    this.struct = struct;
    this.layout = layout;
    this.memory = memory;
  }

  /// Checks that the field has exactly this value.
  ResourceCheck holds(String field, long expected) {
    long found = value(field);
    if (found != expected) {
      throw refusal(field, found, "0x" + Long.toHexString(expected));
    }
    return this;
  }

  /// Checks that the field has at least this value.
  ResourceCheck atLeast(String field, long least) {
    long found = value(field);
    if (found < least) {
      throw refusal(field, found, "at least " + least);
    }
    return this;
  }

  /// Checks that the context and extended context have the interface that this module knows.
  static void context(String library, MemorySegment context, MemorySegment before) {
    new ResourceCheck(library, "ibv_context", Structs.CONTEXT, context)
        .holds("abi_compat", EXTENDED)
        .atLeast("cmd_fd", 0)
        .atLeast("async_fd", 0)
        .atLeast("num_comp_vectors", 1);
    ResourceCheck extended =
        new ResourceCheck(library, "verbs_context", Structs.VERBS_CONTEXT_END, before)
            .atLeast("sz", Structs.CONTEXT.byteSize());
    long bytes = extended.value("sz");
    if (bytes > MAX_CONTEXT_BYTES) {
      throw extended.refusal("sz", bytes, "at most " + MAX_CONTEXT_BYTES);
    }
  }

  private long value(String field) {
    long at = Structs.offset(layout, field);
    return layout.select(java.lang.foreign.MemoryLayout.PathElement.groupElement(field)).byteSize()
            == Integer.BYTES
        ? memory.get(JAVA_INT, at)
        : memory.get(JAVA_LONG, at);
  }

  private VerbsException refusal(String field, long found, String expected) {
    return new VerbsException(
        library
            + " has a layout of struct "
            + struct
            + " that this version of Weft does not know: its field "
            + field
            + " is 0x"
            + Long.toHexString(found)
            + ", expected "
            + expected
            + "; use a libibverbs of rdma-core 29 to 59, or --transport tcp");
  }
}
