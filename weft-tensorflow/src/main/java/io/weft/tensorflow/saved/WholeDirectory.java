// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.saved;

import io.weft.file.ForeignDirectory;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.tensorflow.exceptions.TensorFlowException;

/// Files that appear together or not at all. They are written to a new, private directory next to
/// their destination, whose name others cannot predict, and moved when they are complete.
final class WholeDirectory {

  private WholeDirectory() {}

  /// A writer of the files.
  interface Content {
    void into(Path directory) throws IOException;
  }

  /// Lets `content` fill `directory`. Throws `IOException`, which names the path, if the directory
  /// exists and is not empty, or cannot be written; no files are left then.
  static void write(Path directory, Content content) throws IOException {
    Path target = directory.toAbsolutePath().normalize();
    if (Files.exists(target) && !(Files.isDirectory(target) && list(target).isEmpty())) {
      throw new FileAlreadyExistsException(
          target.toString(), null, "exists already; give a directory that is new or empty");
    }
    beside(
        target,
        built -> {
          content.into(built);
          try {
            Files.move(built, target, StandardCopyOption.ATOMIC_MOVE);
          } catch (DirectoryNotEmptyException | FileAlreadyExistsException e) {
            throw new IOException(target + " was filled by another process", e);
          }
        });
  }

  /// Lets `content` fill a new directory next to `target` and move files out of it, then removes
  /// it.
  static void beside(Path target, Content content) throws IOException {
    Path parent = target.toAbsolutePath().normalize().getParent();
    if (parent == null) {
      throw new IOException(target + " has no directory");
    }
    ForeignDirectory.make(parent);
    Path closed = Files.createTempDirectory(parent, ".weft-saving-");
    try {
      // The inner directory has the user's default permissions and can be moved out.
      content.into(Files.createDirectory(closed.resolve("whole")));
    } catch (IOException e) {
      throw new IOException("cannot write " + target + ": " + e, e);
    } catch (TensorFlowException e) {
      throw new IOException("cannot write " + target + ": " + e.getMessage(), e);
    } finally {
      remove(closed);
    }
  }

  private static List<Path> list(Path directory) throws IOException {
    return ForeignDirectory.entries(directory, "*");
  }

  private static void remove(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
