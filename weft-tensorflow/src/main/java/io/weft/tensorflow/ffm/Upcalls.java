// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import java.lang.System.Logger;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/// C function pointers to Java methods. They live as long as the process, as TensorFlow's
/// registries do. An exception that leaves such a method ends the JVM, so every method catches all
/// throwables.
// "restricted": this package is the boundary to native code.
@SuppressWarnings("restricted")
final class Upcalls {

  private static final Logger LOG = System.getLogger("io.weft.tensorflow");

  private Upcalls() {}

  /// Returns a function pointer to a static method of the lookup's class.
  static MemorySegment stub(
      MethodHandles.Lookup lookup, String method, FunctionDescriptor signature) {
    try {
      return stub(
          lookup.findStatic(lookup.lookupClass(), method, signature.toMethodType()), signature);
    } catch (ReflectiveOperationException e) {
      throw FrameworkLibrary.broken("upcall " + method, e);
    }
  }

  /// Returns a function pointer to a method whose receiver, if any, is bound.
  static MemorySegment stub(MethodHandle target, FunctionDescriptor signature) {
    return FrameworkLibrary.LINKER.upcallStub(target, signature, Arena.global());
  }

  /// Logs an exception that cannot be reported to TensorFlow.
  static void escaped(String where, Throwable failure) {
    LOG.log(Logger.Level.ERROR, "a TensorFlow callback failed in " + where, failure);
  }
}
