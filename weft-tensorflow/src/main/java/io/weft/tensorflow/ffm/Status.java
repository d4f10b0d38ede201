// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// An owned `TF_Status`. One thread at a time.
// "restricted": reads a C string of unknown length.
@SuppressWarnings("restricted")
public final class Status implements AutoCloseable {

  // TF_Status* TF_NewStatus(void);
  private static final MethodHandle NEW =
      FrameworkLibrary.function("TF_NewStatus", FunctionDescriptor.of(JAVA_LONG));
  // void TF_DeleteStatus(TF_Status*);
  private static final MethodHandle DELETE =
      FrameworkLibrary.function("TF_DeleteStatus", FunctionDescriptor.ofVoid(JAVA_LONG));
  // TF_Code TF_GetCode(const TF_Status* s);
  private static final MethodHandle CODE =
      FrameworkLibrary.function(
          "TF_GetCode", FunctionDescriptor.of(JAVA_INT, JAVA_LONG), Linker.Option.critical(false));
  // const char* TF_Message(const TF_Status* s);
  private static final MethodHandle MESSAGE =
      FrameworkLibrary.function("TF_Message", FunctionDescriptor.of(ADDRESS, JAVA_LONG));
  // void TF_SetStatus(TF_Status* s, TF_Code code, const char* msg);
  private static final MethodHandle SET =
      FrameworkLibrary.function(
          "TF_SetStatus", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, ADDRESS));

  private final long address;

  /// Creates a status with the code OK.
  public Status() {
    try {
      address = (long) NEW.invokeExact();
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_NewStatus", t);
    }
  }

  /// Returns the pointer, valid until `close`.
  long address() {
    return address;
  }

  /// Throws `IllegalStateException` with TensorFlow's message if the call named `what` failed.
  public void check(String what) {
    try {
      int code = (int) CODE.invokeExact(address);
      if (code != 0) {
        MemorySegment text = (MemorySegment) MESSAGE.invokeExact(address);
        throw new IllegalStateException(
            what
                + " failed with code "
                + code
                + ": "
                + text.reinterpret(Long.MAX_VALUE).getString(0));
      }
    } catch (IllegalStateException e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_GetCode", t);
    }
  }

  /// Sets an error.
  public void set(StatusCode code, String message) {
    try (Arena arena = Arena.ofConfined()) {
      SET.invokeExact(address, code.value(), arena.allocateFrom(message));
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_SetStatus", t);
    }
  }

  @Override
  public void close() {
    try {
      DELETE.invokeExact(address);
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_DeleteStatus", t);
    }
  }
}
