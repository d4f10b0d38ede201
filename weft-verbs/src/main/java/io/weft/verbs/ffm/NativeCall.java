// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/// Calls native functions. A handle is bound to a type and takes the function's address as its
/// first argument, so that handles can be constants even without the library.
final class NativeCall {

  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private NativeCall() {}

  /// A call that sets `errno`.
  interface Body {
    long run(MemorySegment state, Arena arena) throws Throwable;
  }

  /// A call that does not set `errno`.
  interface Plain {
    long run() throws Throwable;
  }

  /// Returns a function of the C library.
  static MemorySegment libc(String name) {
    return LINKER
        .defaultLookup()
        .find(name)
        .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no " + name));
  }

  /// Returns a handle for functions of this type that set `errno`.
  @SuppressWarnings("restricted")
  static MethodHandle withErrno(FunctionDescriptor type, Linker.Option... more) {
    Linker.Option[] options = new Linker.Option[more.length + 1];
    options[0] = Linker.Option.captureCallState("errno");
    System.arraycopy(more, 0, options, 1, more.length);
    return LINKER.downcallHandle(type, options);
  }

  /// Returns a handle for functions of this type that do not set `errno`.
  @SuppressWarnings("restricted")
  static MethodHandle plain(FunctionDescriptor type, Linker.Option... options) {
    return LINKER.downcallHandle(type, options);
  }

  /// Runs a call that returns 0 (a null pointer) on failure; then this method returns the negative
  /// `errno`.
  static long pointer(Body body) {
    return run(body, 0);
  }

  /// Runs a call that returns -1 on failure; then this method returns the negative `errno`.
  static long number(Body body) {
    return run(body, -1);
  }

  private static long run(Body body, long failed) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long result = body.run(state, arena);
      // Some functions fail without setting errno.
      return result == failed ? Math.min(-(int) ERRNO.get(state, 0L), -1) : result;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw thrown(e);
    }
  }

  /// Runs a call that returns 0, a positive `errno`, or -1 with `errno` unknown; a negative result
  /// indicates failure.
  static int status(Plain body) {
    return -Math.abs((int) run(body));
  }

  static long run(Plain body) {
    try {
      return body.run();
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw thrown(e);
    }
  }

  static IllegalStateException thrown(Throwable e) {
    return new IllegalStateException("a native call threw", e);
  }

  /// Returns the zero-terminated text at an address.
  @SuppressWarnings("restricted")
  static String text(long address) {
    return address == 0
        ? "?"
        : MemorySegment.ofAddress(address).reinterpret(MAX_TEXT_BYTES).getString(0);
  }

  private static final long MAX_TEXT_BYTES = 4096;

  @SuppressWarnings("restricted")
  static MemorySegment struct(long address, MemoryLayout layout) {
    return MemorySegment.ofAddress(address).reinterpret(layout.byteSize());
  }

  @SuppressWarnings("restricted")
  static MemorySegment bytes(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }
}
