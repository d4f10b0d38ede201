// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.HexFormat;

/// The callback that ends a run of an asynchronous kernel.
///
/// TensorFlow passes the address of a `std::function<void()>` on its stack, which ends with the
/// compute call. A later run from that address crashes. A callback that must outlive the call is
/// therefore **moved**, exactly as by the move constructor of libstdc++:
///
/// ```
/// offset  0  functor   16 bytes, trivially copied
/// offset 16  manager   8 bytes; null means empty; manager(f, f, 3) destroys
/// offset 24  invoker   8 bytes
/// ```
///
/// The 32 bytes are copied, and the source's manager is set to null so that its destructor does not
/// destroy the functor. This layout belongs to one C++ library, not to TensorFlow's interface, so
/// `movable` checks it.
// "restricted": reads and writes memory by address.
@SuppressWarnings("restricted")
public final class DoneCallback {

  private static final long BYTES = 32;
  private static final long MANAGER = 16;
  private static final int DESTROY = 3;

  /// `cmpq $0, 0x10(%rdi); je +3; jmpq *0x18(%rdi)`: test the manager, then jump to the invoker.
  private static final String MOVABLE_CODE = "48837f10007403ff6718";

  // void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback* done);
  private static final MethodHandle RUN =
      FrameworkLibrary.function(
          "TF_RunAsyncOpKernelDoneCallback", FunctionDescriptor.ofVoid(JAVA_LONG));
  // bool manager(_Any_data& to, const _Any_data& from, _Manager_operation operation);
  private static final MethodHandle CALL_MANAGER =
      FrameworkLibrary.LINKER.downcallHandle(
          FunctionDescriptor.of(JAVA_BOOLEAN, JAVA_LONG, JAVA_LONG, JAVA_INT));
  // void* malloc(size_t size);
  private static final MethodHandle MALLOC =
      FrameworkLibrary.LINKER.downcallHandle(
          FrameworkLibrary.LINKER.defaultLookup().findOrThrow("malloc"),
          FunctionDescriptor.of(ADDRESS, JAVA_LONG));
  // void free(void* ptr);
  private static final MethodHandle FREE =
      FrameworkLibrary.LINKER.downcallHandle(
          FrameworkLibrary.LINKER.defaultLookup().findOrThrow("free"),
          FunctionDescriptor.ofVoid(JAVA_LONG));

  private DoneCallback() {}

  /// Returns whether `move` may be used in this process. The machine must be x86-64, and the body
  /// of `TF_RunAsyncOpKernelDoneCallback` must read manager and invoker at the offsets that `move`
  /// uses.
  public static boolean movable() {
    if (!System.getProperty("os.arch").equals("amd64")) {
      return false;
    }
    int length = MOVABLE_CODE.length() / 2;
    MemorySegment code =
        FrameworkLibrary.symbol("TF_RunAsyncOpKernelDoneCallback").reinterpret(length);
    return HexFormat.of().formatHex(code.toArray(JAVA_BYTE)).equals(MOVABLE_CODE);
  }

  /// Moves the callback out of `done`, inside the compute call. Returns the new address, which the
  /// caller passes to `runMoved` exactly once, on any thread.
  ///
  /// Hot path.
  public static long move(long done) {
    try {
      MemorySegment to = ((MemorySegment) MALLOC.invokeExact(BYTES)).reinterpret(BYTES);
      if (to.address() == 0) {
        throw new OutOfMemoryError("malloc of " + BYTES + " bytes failed");
      }
      MemorySegment from = NativeTensor.segment(done, BYTES);
      to.copyFrom(from);
      from.set(JAVA_LONG, MANAGER, 0L);
      return to.address();
    } catch (OutOfMemoryError e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("malloc", t);
    }
  }

  /// Runs and destroys a moved callback. Before this returns, TensorFlow may start or finish the
  /// kernel's next run, or delete the kernel.
  ///
  /// Hot path.
  public static void runMoved(long moved) {
    try {
      RUN.invokeExact(moved);
      long manager = NativeTensor.segment(moved, BYTES).get(JAVA_LONG, MANAGER);
      if (manager != 0) {
        boolean ignored =
            (boolean)
                CALL_MANAGER.invokeExact(MemorySegment.ofAddress(manager), moved, moved, DESTROY);
      }
      FREE.invokeExact(moved);
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_RunAsyncOpKernelDoneCallback", t);
    }
  }

  /// Runs a callback at TensorFlow's address, inside the compute call only.
  public static void runInPlace(long done) {
    try {
      RUN.invokeExact(done);
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_RunAsyncOpKernelDoneCallback", t);
    }
  }
}
