// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.checkpoint;

import java.nio.charset.StandardCharsets;

/// What the header of a shard's file says: whose it is, and the state that is not in rows. Pure.
///
/// @param checkpoint id of the checkpoint that it belongs to
/// @param spec of the table, as `TableSpec.text` has it
/// @param shard whose part of the table it is
/// @param content all there was, or what has changed since the checkpoint before
/// @param step number of the table's last update here
/// @param clock of the table, where it is synchronous
public record ShardFile(
    String checkpoint, String spec, int shard, Content content, long step, long clock) {

  /// Version of the layout of all files.
  public static final String VERSION = "weft-kv-checkpoint 1";

  private static final int LINES = 6;

  /// Which rows a file has.
  public enum Content {
    /// All.
    FULL,
    /// Those that have changed since the checkpoint before.
    CHANGED
  }

  /// Its bytes.
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

  /// Reads one. Throws `IllegalArgumentException` with what is wrong.
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
