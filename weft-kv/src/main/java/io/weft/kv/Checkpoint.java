// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// A checkpoint that was made or restored.
///
/// @param path its directory
/// @param number of it, from 1
/// @param rows in its files
/// @param bytes of its files
/// @param clocks up to which the pushes of each synchronous table are in it, by name
/// @param refused why later ones were not restored, one message each, which names the file
public record Checkpoint(
    Path path, int number, long rows, long bytes, Map<String, Long> clocks, List<String> refused) {

  /// Copies what could change.
  public Checkpoint {
    Objects.requireNonNull(path, "path");
    clocks = Map.copyOf(clocks);
    refused = List.copyOf(refused);
  }
}
