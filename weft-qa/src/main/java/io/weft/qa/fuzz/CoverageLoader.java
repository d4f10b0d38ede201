// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/// The loader of instrumented classes below `io.weft`. All other classes come from its parent, as
/// do the tensors, which decode nothing, and the testkit, which the fuzzer shares with its targets.
/// Their classes of settings are still instrumented, because they implement an instrumented
/// interface.
final class CoverageLoader extends ClassLoader {

  private static final String OURS = "io.weft.";
  private static final String SETTINGS = "Config";
  private static final String[] SHARED = {"io.weft.qa.", "io.weft.testkit.", "io.weft.tensor."};

  private final Instrumentation instrumentation;

  CoverageLoader(ClassLoader parent) {
    super("fuzz", parent);
    instrumentation = new Instrumentation(parent);
  }

  /// Creates a target of this type with an instrumented decoder.
  FuzzTarget target(Class<? extends FuzzTarget> type) {
    try {
      return (FuzzTarget) loadClass(type.getName()).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException broken) {
      throw new IllegalStateException(type + " is not a target of the fuzzer", broken);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!isOurs(name)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      return known != null ? known : define(name);
    }
  }

  private static boolean isOurs(String name) {
    if (!name.startsWith(OURS)) {
      return false;
    }
    if (name.endsWith(SETTINGS)) {
      return true;
    }
    for (String shared : SHARED) {
      if (name.startsWith(shared)) {
        return false;
      }
    }
    return true;
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    byte[] original = bytes(name);
    if (original == null) {
      throw new ClassNotFoundException(name);
    }
    byte[] counted = instrumentation.apply(original);
    return defineClass(name, counted, 0, counted.length);
  }

  private byte @Nullable [] bytes(String name) throws ClassNotFoundException {
    try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
      return in == null ? null : in.readAllBytes();
    } catch (IOException unreadable) {
      throw new ClassNotFoundException(name, unreadable);
    }
  }
}
