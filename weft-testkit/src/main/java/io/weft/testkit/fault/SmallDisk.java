// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// A small file system in memory, mounted on a directory, for tests of a full disk. The caller
/// closes it.
public final class SmallDisk implements AutoCloseable {

  private static final long LIMIT_SECONDS = 20;

  private final Path directory;

  private SmallDisk(Path directory) {
    this.directory = directory;
  }

  /// Mounts a disk of this many KiB on an empty directory; empty if this process may not mount it,
  /// which usually requires root on Linux.
  public static Optional<SmallDisk> on(Path directory, int kibibytes) {
    try {
      List<String> mount = List.of("mount", "-t", "tmpfs", "-o", "size=" + kibibytes + "k");
      return run(mount, "tmpfs", directory.toString())
          ? Optional.of(new SmallDisk(directory))
          : Optional.empty();
    } catch (IOException noSuchCommand) {
      return Optional.empty();
    }
  }

  /// Returns the directory on which it is mounted.
  public Path directory() {
    return directory;
  }

  /// Unmounts the disk.
  @Override
  public void close() throws IOException {
    if (!run(List.of("umount"), directory.toString())) {
      throw new IOException("cannot unmount " + directory);
    }
  }

  private static boolean run(List<String> command, String... arguments) throws IOException {
    var builder = new ProcessBuilder(new ArrayList<>(command));
    builder.command().addAll(List.of(arguments));
    Process process =
        builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    try {
      return process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      process.destroyForcibly();
    }
  }
}
