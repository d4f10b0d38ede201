// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// A checkpoint that was created or restored.
///
/// @param path its directory
/// @param number its number, from 1
/// @param rows the number of rows in its files
/// @param bytes the size of its files
/// @param clocks the clock of each synchronous table, by name; the checkpoint contains all pushes
///   up to it
/// @param refused the reasons why later checkpoints were not restored, one message each, which
///   names the file
public record Checkpoint(
    Path path, int number, long rows, long bytes, Map<String, Long> clocks, List<String> refused) {

  /// Copies the mutable arguments.
  public Checkpoint {
    Objects.requireNonNull(path, "path");
    clocks = Map.copyOf(clocks);
    refused = List.copyOf(refused);
  }
}
