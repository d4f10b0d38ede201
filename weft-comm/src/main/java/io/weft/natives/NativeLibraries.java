// SPDX-License-Identifier: Apache-2.0
package io.weft.natives;

import java.time.Duration;
import java.util.Iterator;
import java.util.Objects;
import java.util.ServiceLoader;

/// Native libraries of a module on the class path that must be unpacked before they can be loaded.
/// Found by the service loader; a public class with a public constructor without arguments.
public interface NativeLibraries {

  /// Lets nobody of this process meet half a library: returns when all are unpacked, by this
  /// process or another one. Cheap if they are. Does nothing where they are missing or do not load:
  /// who uses them says so. Waits at most `limit` for other processes, then throws
  /// `CommException.Setup`; see `UnpackLock`.
  void unpack(Duration limit);

  /// Unpacks those of all modules on the class path.
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
