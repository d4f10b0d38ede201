// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.checkpoint;

import java.nio.charset.StandardCharsets;
import java.util.List;

/// The header of a shard's file: its table and shard, and the state that is not in rows. Pure.
///
/// @param checkpoint id of its checkpoint
/// @param spec of the table, the text of `TableSpec.text`
/// @param shard the shard's number
/// @param content all rows, or the rows changed since the previous checkpoint
/// @param step number of the table's last update on the shard
/// @param clock of the table, if it is synchronous
/// @param changes of the parameters of the update rule, a line each
public record ShardFile(
    String checkpoint,
    String spec,
    int shard,
    Content content,
    long step,
    long clock,
    List<String> changes) {

  /// The version of the layout of all files.
  public static final String VERSION = "weft-kv-checkpoint 1";

  /// The version of a header with changes of the update rule.
  private static final String WITH_CHANGES = "weft-kv-checkpoint 2";

  private static final int LINES = 6;

  /// Copies the list.
  public ShardFile {
    changes = List.copyOf(changes);
  }

  /// The rows that a file contains.
  public enum Content {
    /// All rows.
    FULL,
    /// The rows changed since the previous checkpoint.
    CHANGED
  }

  byte[] encode() {
    String rest = spec;
    if (!changes.isEmpty()) {
      rest = changes.size() + "\n" + String.join("\n", changes) + "\n" + spec;
    }
    return String.join(
            "\n",
            changes.isEmpty() ? VERSION : WITH_CHANGES,
            checkpoint,
            Integer.toString(shard),
            content.name(),
            Long.toString(step),
            Long.toString(clock),
            rest)
        .getBytes(StandardCharsets.UTF_8);
  }

  /// Parses a header. Throws `IllegalArgumentException` if it is invalid.
  static ShardFile parse(byte[] bytes) {
    String[] lines = new String(bytes, StandardCharsets.UTF_8).split("\n", LINES + 1);
    boolean withChanges = lines[0].equals(WITH_CHANGES);
    if (!withChanges && !lines[0].equals(VERSION)) {
      throw new IllegalArgumentException(
          "it is of version '" + lines[0] + "', expected '" + VERSION + "'");
    }
    if (lines.length != LINES + 1) {
      throw new IllegalArgumentException("a header of " + lines.length + " lines");
    }
    List<String> rest = List.of(lines[6].split("\n", -1));
    int changes = withChanges ? Integer.parseInt(rest.getFirst()) : 0;
    int spec = withChanges ? 1 + changes : 0;
    if (changes < 0 || spec >= rest.size()) {
      throw new IllegalArgumentException("a header with " + changes + " changes of the rule");
    }
    return new ShardFile(
        lines[1],
        String.join("\n", rest.subList(spec, rest.size())),
        Integer.parseInt(lines[2]),
        Content.valueOf(lines[3]),
        Long.parseLong(lines[4]),
        Long.parseLong(lines[5]),
        rest.subList(spec - changes, spec));
  }
}
