// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import io.weft.comm.CommException;
import io.weft.tensorflow.natives.TensorFlowLibraries;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Map;
import org.bytedeco.javacpp.Loader;
import org.jspecify.annotations.Nullable;

/// The shared library that TensorFlow Java has loaded. A look-up by its path finds TensorFlow's own
/// instance, and thus its op registry.
// "restricted": this package is the boundary to native code.
@SuppressWarnings("restricted")
public final class FrameworkLibrary {

  static final Linker LINKER = Linker.nativeLinker();

  private FrameworkLibrary() {}

  /// Loads TensorFlow's native libraries and returns their version. Throws `CommException.Setup`,
  /// which names the dependency to add. Must succeed before any other class of this package is
  /// used.
  public static String load() {
    try {
      String version = TensorFlowLibraries.load();
      if (path() == null) {
        throw new CommException.Setup(
            "TensorFlow "
                + version
                + " loaded no library 'tensorflow_framework', which holds the op interface; use"
                + " org.tensorflow:tensorflow-core-native 1.1.0",
            null);
      }
      return version;
    } catch (LinkageError e) {
      throw new CommException.Setup(
          "TensorFlow's native library does not load on "
              + System.getProperty("os.name")
              + " "
              + System.getProperty("os.arch")
              + ": "
              + rootMessage(e)
              + "; add the dependency org.tensorflow:tensorflow-core-native:1.1.0 with classifier"
              + " linux-x86_64",
          e);
    }
  }

  static MemorySegment symbol(String name) {
    return Loaded.SYMBOLS
        .find(name)
        .orElseThrow(
            () ->
                new UnsatisfiedLinkError(
                    "libtensorflow_framework has no function " + name + "; use version 2.18"));
  }

  static MethodHandle function(
      String name, FunctionDescriptor signature, Linker.Option... options) {
    return LINKER.downcallHandle(symbol(name), signature, options);
  }

  /// Returns an error for impossible failures: a downcall throws only if its handle is misused.
  static IllegalStateException broken(String function, Throwable cause) {
    return new IllegalStateException("call of " + function + " failed", cause);
  }

  private static @Nullable String path() {
    for (Map.Entry<String, String> library : Loader.getLoadedLibraries().entrySet()) {
      if (library.getKey().startsWith("tensorflow_framework")) {
        return library.getValue();
      }
    }
    return null;
  }

  private static String rootMessage(Throwable failure) {
    Throwable root = failure;
    for (Throwable next = root.getCause(); next != null; next = next.getCause()) {
      root = next;
    }
    return root.toString();
  }

  private static final class Loaded {
    static final SymbolLookup SYMBOLS = open();

    private static SymbolLookup open() {
      String path = path();
      if (path == null) {
        throw new UnsatisfiedLinkError("libtensorflow_framework is not loaded");
      }
      return SymbolLookup.libraryLookup(Path.of(path), Arena.global());
    }
  }
}
