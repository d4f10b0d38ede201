// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/// A file for decoders that read files: made when first written, readable by its owner alone,
/// removed when the process ends. Confined to one thread.
public final class ScratchFile {

  private @Nullable Path path;

  /// Nothing is made yet.
  public ScratchFile() {}

  /// The file with exactly this content.
  public Path with(byte[] content) throws IOException {
    Path file = path;
    if (file == null) {
      file = Files.createTempFile("weft-fuzz-", "");
      file.toFile().deleteOnExit();
      path = file;
    }
    // Not cut to nothing first, which makes some file systems write to the disk.
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
