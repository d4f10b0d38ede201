// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.checkpoint;

import java.nio.charset.StandardCharsets;

/// The header of a shard's file: its table and shard, and the state that is not in rows. Pure.
///
/// @param checkpoint id of its checkpoint
/// @param spec of the table, the text of `TableSpec.text`
/// @param shard the shard's number
/// @param content all rows, or the rows changed since the previous checkpoint
/// @param step number of the table's last update on the shard
/// @param clock of the table, if it is synchronous
public record ShardFile(
    String checkpoint, String spec, int shard, Content content, long step, long clock) {

  /// The version of the layout of all files.
  public static final String VERSION = "weft-kv-checkpoint 1";

  private static final int LINES = 6;

  /// The rows that a file contains.
  public enum Content {
    /// All rows.
    FULL,
    /// The rows changed since the previous checkpoint.
    CHANGED
  }

  byte[] encode() {
    return String.join(
            "\n",
            VERSION,
            checkpoint,
            Integer.toString(shard),
            content.name(),
            Long.toString(step),
            Long.toString(clock),
            spec)
        .getBytes(StandardCharsets.UTF_8);
  }

  /// Parses a header. Throws `IllegalArgumentException` if it is invalid.
  static ShardFile parse(byte[] bytes) {
    String[] lines = new String(bytes, StandardCharsets.UTF_8).split("\n", LINES + 1);
    if (!lines[0].equals(VERSION)) {
      throw new IllegalArgumentException(
          "it is of version '" + lines[0] + "', expected '" + VERSION + "'");
    }
    if (lines.length != LINES + 1) {
      throw new IllegalArgumentException("a header of " + lines.length + " lines");
    }
    return new ShardFile(
        lines[1],
        lines[6],
        Integer.parseInt(lines[2]),
        Content.valueOf(lines[3]),
        Long.parseLong(lines[4]),
        Long.parseLong(lines[5]));
  }
}
