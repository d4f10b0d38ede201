// SPDX-License-Identifier: Apache-2.0
package io.weft.natives;

import java.time.Duration;
import java.util.Iterator;
import java.util.Objects;
import java.util.ServiceLoader;

/// The native libraries of a module on the class path that must be unpacked before they can be
/// loaded. The service loader finds implementations, which must be public with a public constructor
/// without arguments.
public interface NativeLibraries {

  /// Unpacks the libraries. Returns when this process or another one has unpacked all of them, so
  /// that this process never loads an incomplete library. Cheap if they are unpacked already. No
  /// effect if they are missing or cannot be loaded, which their use reports. Waits at most `limit`
  /// for other processes, then throws `CommException.Setup`; see `UnpackLock`.
  void unpack(Duration limit);

  /// Unpacks the libraries of all modules on the class path.
  static void unpackAll(Duration limit) {
    Objects.requireNonNull(limit, "limit");
    Iterator<NativeLibraries> modules =
        ServiceLoader.load(NativeLibraries.class, NativeLibraries.class.getClassLoader())
            .iterator();
    while (modules.hasNext()) {
      modules.next().unpack(limit);
    }
  }
}
