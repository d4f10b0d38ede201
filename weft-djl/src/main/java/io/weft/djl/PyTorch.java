// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;

/// PyTorch, which DJL loads on first use.
public final class PyTorch {

  /// The name of PyTorch's engine in DJL.
  public static final String ENGINE = "PyTorch";

  private PyTorch() {}

  /// Loads PyTorch, unless it is loaded, and returns its engine. The first load on a machine
  /// unpacks 450 MB. Throws `IllegalStateException` with the requirements if PyTorch does not load
  /// here.
  public static Engine load() {
    try {
      return Engine.getEngine(ENGINE);
    } catch (EngineException | IllegalArgumentException | IllegalStateException | LinkageError e) {
      throw new IllegalStateException(
          "PyTorch does not load here ("
              + cause(e)
              + "); it needs Linux on x86-64 with glibc, the jars pytorch-native-cpu and"
              + " pytorch-jni that io.weft:weft-djl depends on, and 450 MB of space in ~/.djl.ai"
              + " or in the directory that DJL_CACHE_DIR names",
          e);
    }
  }

  private static String cause(Throwable failure) {
    Throwable first = failure;
    while (first.getCause() != null) {
      first = first.getCause();
    }
    return first.toString();
  }
}
