// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/// A file for decoders that read files. It is created when first written, only its owner can read
/// it, and it is removed when the process ends. Confined to one thread.
public final class ScratchFile {

  private @Nullable Path path;

  /// Creates the object, but not the file.
  public ScratchFile() {}

  /// Returns the file with exactly this content.
  public Path with(byte[] content) throws IOException {
    Path file = path;
    if (file == null) {
      file = Files.createTempFile("weft-fuzz-", "");
      file.toFile().deleteOnExit();
      path = file;
    }
    // The file is not truncated first, because this makes some file systems write to the disk.
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        int unused = channel.write(bytes);
      }
      channel.truncate(content.length);
    }
    return file;
  }
}
