// SPDX-License-Identifier: Apache-2.0
package io.weft.shm.ffm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Sleeps on a word of shared memory, and wakes such sleepers, across processes. Each sleeper has
/// its own instance, confined to its thread; any thread may call `wake`.
public final class Futex {

  private static final long FUTEX_WAIT = 0;
  private static final long FUTEX_WAKE = 1;
  private static final long NANOS = 1_000_000_000L;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final FunctionDescriptor TYPE =
      FunctionDescriptor.of(
          JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

  // long syscall(long number, ... /* uint32_t *word, int op, uint32_t value, timespec *, 0, 0 */);
  private static final MethodHandle SYSCALL = bind();

  private static final long NUMBER = System.getProperty("os.arch").equals("aarch64") ? 98 : 202;

  private final MemorySegment word;
  private final MemorySegment timeout = Arena.ofAuto().allocate(2 * Long.BYTES, Long.BYTES);

  /// Creates a futex on the 32 bits at the start of `word`.
  public Futex(MemorySegment word) {
    this.word = word;
  }

  @SuppressWarnings("restricted")
  private static MethodHandle bind() {
    MemorySegment function =
        LINKER
            .defaultLookup()
            .find("syscall")
            .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no syscall"));
    return LINKER.downcallHandle(function, TYPE, Linker.Option.firstVariadicArg(1));
  }

  /// Returns whether the number of the system call is known for this processor.
  public static boolean isKnownHere() {
    String arch = System.getProperty("os.arch");
    return arch.equals("amd64") || arch.equals("x86_64") || arch.equals("aarch64");
  }

  /// Sleeps for at most `nanos` until a `wake`, if the word has this value; may return early.
  public void await(int value, long nanos) {
    timeout.set(JAVA_LONG, 0, nanos / NANOS);
    timeout.set(JAVA_LONG, Long.BYTES, nanos % NANOS);
    call(word.address(), FUTEX_WAIT, value, timeout.address());
  }

  /// Wakes all sleepers on the 32 bits at this offset.
  public static void wake(MemorySegment memory, long offset) {
    call(memory.address() + offset, FUTEX_WAKE, Integer.MAX_VALUE, 0);
  }

  private static void call(long address, long operation, long value, long timeout) {
    try {
      long unused = (long) SYSCALL.invokeExact(NUMBER, address, operation, value, timeout, 0L, 0L);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("a call of the C library threw", e);
    }
  }
}
