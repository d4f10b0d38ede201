// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.checkpoint;

import io.weft.kv.checkpoint.ShardFile.Content;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/// The manifest of a checkpoint: lines of text that list its files, written last. Pure.
///
/// @param job the user's name of the job
/// @param number of the checkpoint, from 1
/// @param id 16 hexadecimal digits, unique to the checkpoint
/// @param base number of the previous checkpoint, which files with changed rows need; 0 = none does
/// @param shards the number of shards of the tables
/// @param tables their specifications and clocks
/// @param files all files
public record CheckpointManifest(
    String job, int number, String id, int base, int shards, List<Table> tables, List<File> files) {

  /// The manifest's name in the checkpoint's directory.
  public static final String NAME = "manifest";

  /// The maximum length of a manifest.
  public static final int MAX_BYTES = 64 << 20;

  private static final String END = "crc32c ";
  private static final int WORDS = 8;

  /// Copies the mutable arguments.
  public CheckpointManifest {
    tables = List.copyOf(tables);
    files = List.copyOf(files);
  }

  /// A table.
  ///
  /// @param spec the text of `TableSpec.text`
  /// @param clock the last clock whose pushes are included, if the table is synchronous
  public record Table(String spec, long clock) {}

  /// A file of one table and shard.
  ///
  /// @param table position of the table
  /// @param shard the shard's number
  /// @param content all rows, or the changed rows
  /// @param bytes of the file
  /// @param checksum CRC32C of the whole file
  /// @param rows in it
  public record File(int table, int shard, Content content, long bytes, int checksum, long rows) {

    /// Returns the file's name in the checkpoint's directory.
    public String name() {
      return fileName(table, shard);
    }
  }

  /// Returns the name of the file of a table and shard.
  public static String fileName(int table, int shard) {
    return "table-%04d-shard-%05d".formatted(table, shard);
  }

  /// Returns the manifest as bytes.
  public byte[] encode() {
    List<String> lines = new ArrayList<>();
    lines.add(ShardFile.VERSION);
    lines.add("job " + escape(job));
    lines.add("number " + number);
    lines.add("id " + id);
    lines.add("base " + base);
    lines.add("shards " + shards);
    for (Table each : tables) {
      lines.add("table " + each.clock + " " + escape(each.spec));
    }
    for (File each : files) {
      lines.add(
          "file %d %d %s %d %08x %d"
              .formatted(
                  each.table, each.shard, each.content, each.bytes, each.checksum, each.rows));
    }
    byte[] words = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
    return (new String(words, StandardCharsets.UTF_8) + END + hex(words) + "\n")
        .getBytes(StandardCharsets.UTF_8);
  }

  private static String hex(byte[] words) {
    var crc = new CRC32C();
    crc.update(words);
    return "%08x".formatted((int) crc.getValue());
  }

  private static String escape(String text) {
    return text.replace("\\", "\\\\").replace("\n", "\\n");
  }

  private static String unescape(String text) {
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\");
  }

  /// Parses a manifest. Throws `IllegalArgumentException` if it is invalid.
  public static CheckpointManifest parse(byte[] bytes) {
    List<String> lines = List.of(new String(bytes, StandardCharsets.UTF_8).split("\n", -1));
    String first = lines.getFirst();
    if (!first.equals(ShardFile.VERSION)) {
      throw new IllegalArgumentException(
          "it is of version '%s', expected '%s'".formatted(shortened(first), ShardFile.VERSION));
    }
    int end = lines.size() - 2;
    if (end < 6 || !lines.get(end + 1).isEmpty() || !lines.get(end).startsWith(END)) {
      throw new IllegalArgumentException(
          "its %d bytes do not end with a line '%s...': it is torn".formatted(bytes.length, END));
    }
    CheckpointManifest read;
    try {
      read = read(lines.subList(1, end));
    } catch (IllegalArgumentException | IndexOutOfBoundsException wrong) {
      throw new IllegalArgumentException("it has been altered: " + wrong.getMessage(), wrong);
    }
    byte[] again = read.encode();
    if (!Arrays.equals(again, bytes)) {
      throw new IllegalArgumentException(
          "it has been altered at offset %d: its lines are of the checksum line '%s', and it has '%s'"
              .formatted(
                  Arrays.mismatch(again, bytes),
                  new String(again, again.length - 9, 8, StandardCharsets.UTF_8),
                  shortened(lines.get(end).substring(END.length()))));
    }
    return read;
  }

  private static CheckpointManifest read(List<String> lines) {
    List<Table> tables = new ArrayList<>();
    List<File> files = new ArrayList<>();
    for (String line : lines.subList(5, lines.size())) {
      if (line.startsWith("table ")) {
        String[] words = line.split(" ", 3);
        tables.add(new Table(unescape(words[2]), Long.parseLong(words[1])));
      } else {
        String[] words = line.split(" ", WORDS);
        files.add(
            new File(
                Integer.parseInt(words[1]),
                Integer.parseInt(words[2]),
                Content.valueOf(words[3]),
                Long.parseLong(words[4]),
                Integer.parseUnsignedInt(words[5], 16),
                Long.parseLong(words[6])));
      }
    }
    return new CheckpointManifest(
        unescape(value(lines.get(0), "job ")),
        Integer.parseInt(value(lines.get(1), "number ")),
        value(lines.get(2), "id "),
        Integer.parseInt(value(lines.get(3), "base ")),
        Integer.parseInt(value(lines.get(4), "shards ")),
        tables,
        files);
  }

  private static String value(String line, String name) {
    if (!line.startsWith(name)) {
      throw new IllegalArgumentException(
          "a line '" + shortened(line) + "', expected one of '" + name + "'");
    }
    return line.substring(name.length());
  }

  private static String shortened(String text) {
    return text.length() <= 60 ? text : text.substring(0, 60) + "...";
  }
}
