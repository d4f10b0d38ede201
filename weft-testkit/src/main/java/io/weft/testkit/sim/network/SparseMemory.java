// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Zeroed memory in which only written pages take space, because ranks allocate pools of megabytes
/// and a thousand ranks use little of each. The C library's `mmap` reserves it; `Arena.allocate`
/// would write every page.
final class SparseMemory {

  private static final int READ_WRITE = 3;
  private static final int PRIVATE_ANONYMOUS_NO_RESERVE = 0x4022;
  private static final long FAILED = -1;

  // void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
  private static final MethodHandle MMAP =
      bind("mmap", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
  // int munmap(void *addr, size_t length);
  private static final MethodHandle MUNMAP = bind("munmap", JAVA_INT, ADDRESS, JAVA_LONG);

  private SparseMemory() {}

  @SuppressWarnings("restricted")
  private static MethodHandle bind(String name, MemoryLayout result, MemoryLayout... arguments) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments));
  }

  /// Allocates memory, which the garbage collector frees. Throws `IllegalStateException` if the
  /// system has no memory.
  @SuppressWarnings("restricted")
  static MemorySegment allocate(long bytes) {
    try {
      var start =
          (MemorySegment)
              MMAP.invokeExact(0L, bytes, READ_WRITE, PRIVATE_ANONYMOUS_NO_RESERVE, -1, 0L);
      if (start.address() == FAILED) {
        throw new IllegalStateException("a simulated rank has no memory: mmap of " + bytes + " B");
      }
      return start.reinterpret(bytes, Arena.ofAuto(), memory -> free(memory, bytes));
    } catch (RuntimeException | Error failure) {
      throw failure;
    } catch (Throwable unexpected) {
      throw new IllegalStateException("mmap", unexpected);
    }
  }

  private static void free(MemorySegment memory, long bytes) {
    try {
      int unused = (int) MUNMAP.invokeExact(memory, bytes);
    } catch (Throwable failure) {
      throw new IllegalStateException("munmap", failure);
    }
  }
}
