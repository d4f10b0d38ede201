// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The C library's `memcmp`, which the peers in C use too. `MemorySegment.mismatch` takes nearly
/// twice as long on data that other cores have just written. If ranks share a core, one rank's
/// comparison delays another rank. Safe for use by any thread.
public final class CMemory {

  private static final FunctionDescriptor TYPE =
      FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG);

  // int memcmp(const void *, const void *, size_t);
  private static final MethodHandle COMPARE = bind();

  private CMemory() {}

  @SuppressWarnings("restricted")
  private static MethodHandle bind() {
    Linker linker = Linker.nativeLinker();
    MemorySegment function = linker.defaultLookup().findOrThrow("memcmp");
    return linker.downcallHandle(function, TYPE, Linker.Option.critical(false));
  }

  /// Returns whether `bytes` bytes of the two segments are equal. `bytes` must be at most a few KiB
  /// because the call delays safepoints of the JVM.
  public static boolean same(
      MemorySegment one, long at, MemorySegment other, long from, long bytes) {
    MemorySegment mine = one.asSlice(at, bytes);
    MemorySegment expected = other.asSlice(from, bytes);
    try {
      return (int) COMPARE.invokeExact(mine, expected, bytes) == 0;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}
