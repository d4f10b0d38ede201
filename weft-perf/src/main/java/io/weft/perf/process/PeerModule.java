// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import io.weft.file.ForeignFile;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// A program of a module of peers, which has a separate class path because its libraries conflict
/// with those of `weft perf`.
///
/// @param module name of the module, which is its directory in the source tree
/// @param program name of the main class
public record PeerModule(String module, String program) {

  private static final int MOST_BYTES = 1 << 20;

  /// Returns the program's class path, which the module's build has left in its `target`. Throws
  /// `PerfException.Missing` with the command that builds it.
  ///
  /// @param peer name of the peer for the message
  public String classpath(String peer) {
    return isHere()
        ? System.getProperty("java.class.path")
        : built()
            .orElseThrow(
                () ->
                    new PerfException.Missing(
                        "peer "
                            + peer
                            + " is not built; in Weft's source tree: mvn -q -pl "
                            + module
                            + " -am package -DskipTests"));
  }

  private boolean isHere() {
    try {
      return Class.forName(program, false, PeerModule.class.getClassLoader()) != null;
    } catch (ClassNotFoundException elsewhere) {
      return false;
    }
  }

  /// Returns the class path in the tree from which this class was built.
  private Optional<String> built() {
    try {
      Path own =
          Path.of(PeerModule.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      // This class is in TREE/weft-perf/target/classes, or in a jar in TREE/weft-perf/target.
      Path target = own.resolve("../../..").normalize().resolve(module).resolve("target");
      Path libraries = target.resolve("classpath");
      return Files.isRegularFile(libraries)
          ? Optional.of(
              target.resolve("classes")
                  + ":"
                  + ForeignFile.named(libraries).text(MOST_BYTES).strip())
          : Optional.empty();
    } catch (IOException | URISyntaxException e) {
      return Optional.empty();
    }
  }
}
