// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.natives;

import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import io.weft.natives.NativeLibraries;
import io.weft.natives.UnpackLock;
import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.bytedeco.javacpp.Loader;
import org.tensorflow.TensorFlow;

/// TensorFlow's native libraries, 700 MB that JavaCPP unpacks from a jar into its cache at the
/// first use of a TensorFlow class. Concurrent processes would map files that other processes are
/// still writing and die of SIGBUS, so this class lets one process unpack at a time. A file in the
/// cache records the completely unpacked libraries. While the record is valid, processes do not
/// wait.
public final class TensorFlowLibraries implements NativeLibraries {

  private static final String UNPACKED = ".weft-tensorflow";
  private static final String LIBRARIES = "TensorFlow's libraries";

  /// The file in JavaCPP's cache that it opens, without a time limit, before it unpacks a library.
  private static final String JAVACPP_LOCK = ".lock";

  private static final Duration LIMIT = Duration.ofMinutes(5);

  /// Creates the instance for the service loader.
  public TensorFlowLibraries() {}

  /// Loads the libraries, unpacks them if necessary, and returns TensorFlow's version. Throws
  /// `LinkageError` if they are missing or do not load. Throws `CommException.Setup` if another
  /// process unpacks for more than five minutes, or if the path of a lock is not a regular file.
  public static String load() {
    load(LIMIT);
    return TensorFlow.version();
  }

  @Override
  public void unpack(Duration limit) {
    try {
      if (!unpacked(cache())) {
        load(limit);
      }
    } catch (LinkageError missing) {
      // TensorFlow's first caller reports the remedy; programs without TensorFlow need none.
    }
  }

  private static void load(Duration limit) {
    Optional<Path> cache = cache();
    if (cache.isEmpty() || unpacked(cache)) {
      return;
    }
    UnpackLock.requireFile(cache.get(), JAVACPP_LOCK, LIBRARIES);
    UnpackLock.alone(
        cache.get(),
        LIBRARIES,
        limit,
        () -> {
          var unused = TensorFlow.version(); // unpacks and loads
          note(cache.get());
        });
  }

  /// Returns JavaCPP's cache directory, if it has a writable one.
  private static Optional<Path> cache() {
    try {
      return Optional.of(Loader.getCacheDir().toPath());
    } catch (IOException none) {
      return Optional.empty();
    }
  }

  private static boolean unpacked(Optional<Path> cache) {
    if (cache.isEmpty()) {
      return false;
    }
    Path noted = cache.get().resolve(UNPACKED);
    try {
      if (!Files.isRegularFile(noted)) {
        return false;
      }
      List<String> lines = ForeignFile.found(noted).text(1 << 20).lines().toList();
      if (lines.size() < 2 || !lines.getFirst().equals(jar())) {
        return false;
      }
      for (String line : lines.subList(1, lines.size())) {
        int space = line.indexOf(' ');
        if (space < 0
            || Files.size(Path.of(line.substring(space + 1)))
                != Long.parseLong(line.substring(0, space))) {
          return false;
        }
      }
      return true;
    } catch (IOException | RuntimeException unreadable) {
      return false;
    }
  }

  private static void note(Path cache) {
    List<String> lines = new ArrayList<>();
    try {
      lines.add(jar());
      for (String library : Loader.getLoadedLibraries().values()) {
        Path file = Path.of(library);
        if (file.startsWith(cache) && Files.exists(file)) {
          lines.add(Files.size(file) + " " + file);
        }
      }
      if (lines.size() > 1) {
        String text = String.join("\n", lines) + "\n";
        NewFile.write(cache.resolve(UNPACKED), text.getBytes(StandardCharsets.UTF_8));
      }
    } catch (IOException | RuntimeException unwritable) {
      // Every process then takes the lock in turn, as if no library were unpacked.
    }
  }

  /// Returns path, length and age of the jar from which JavaCPP unpacks the libraries.
  private static String jar() throws IOException {
    URL library =
        TensorFlow.class
            .getClassLoader()
            .getResource(
                "org/tensorflow/internal/c_api/" + Loader.getPlatform() + "/libjnitensorflow.so");
    if (library == null || !(library.openConnection() instanceof JarURLConnection connection)) {
      throw new IOException("no jar has TensorFlow's libraries");
    }
    Path jar = Path.of(URI.create(connection.getJarFileURL().toString()));
    return jar + " " + Files.size(jar) + " " + Files.getLastModifiedTime(jar).toMillis();
  }
}
