// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Zeroed memory in which only written pages take space, because ranks allocate pools of megabytes
/// and a thousand ranks use little of each. The pages belong to a deleted file and are freed with
/// its mapping.
final class SparseMemory {

  private SparseMemory() {}

  /// Allocates memory, which the garbage collector frees. Throws `UncheckedIOException` if there is
  /// no writable directory for temporary files.
  static MemorySegment allocate(long bytes) {
    try {
      Path file = Files.createTempFile("weft-simulated-", null);
      try (FileChannel channel =
          FileChannel.open(
              file,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE,
              StandardOpenOption.DELETE_ON_CLOSE)) {
        return channel.map(MapMode.READ_WRITE, 0, bytes, Arena.ofAuto());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("a simulated rank has no memory: " + e.getMessage(), e);
    }
  }
}
