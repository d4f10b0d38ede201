// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.checkpoint.Block;
import io.weft.kv.checkpoint.CheckpointDirectory;
import io.weft.kv.checkpoint.CheckpointManifest;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.table.RowVisitor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/// The rows of a table in the files that `KvTable.exportRows` has written. Readers need no servers,
/// and memory for one block of 256 KiB or one row. One thread.
public final class RowFiles {

  private static final int HEAD_BYTES = 16;

  private final CheckpointDirectory directory;
  private final CheckpointManifest manifest;
  private final TableSpec spec;
  private long rows;
  private long step;

  /// The slots of imported rows.
  public enum Slots {
    /// The slots in the files.
    KEPT,
    /// The initial slots of the rule.
    INITIAL
  }

  private RowFiles(CheckpointDirectory directory, CheckpointManifest manifest) throws IOException {
    this.directory = directory;
    this.manifest = manifest;
    this.spec = TableSpec.parse(manifest.tables().getFirst().spec());
    for (CheckpointManifest.File file : manifest.files()) {
      step = Math.max(step, directory.read(manifest, file, block -> {}).step());
      rows += file.rows();
    }
  }

  /// Opens the last export of a table and verifies its files. Throws a `FileSystemException` if
  /// there is none, or with the file and the offset of the damage.
  ///
  /// @param table the name of the exported table
  public static RowFiles open(Path directory, String table) throws IOException {
    Objects.requireNonNull(table, "table");
    var in = new CheckpointDirectory(directory, job(table));
    List<Integer> finished = in.numbers().stream().filter(in::isFinished).toList();
    if (finished.isEmpty()) {
      throw new FileSystemException(
          directory.toString(), null, "no export of table '" + table + "' was finished there");
    }
    return new RowFiles(in, in.manifest(finished.getLast()));
  }

  /// Returns the name of the job whose checkpoints are the exports of a table.
  static String job(String table) {
    return "rows of " + table;
  }

  /// Returns the specification of the exported table, whose slicer cannot slice.
  public TableSpec spec() {
    return spec;
  }

  /// Returns the number of rows.
  public long rows() {
    return rows;
  }

  /// Returns the number of the exported table's last update.
  long step() {
    return step;
  }

  /// Visits each row once, with its values and then its slots, in any order.
  public void forEach(RowVisitor visitor) throws IOException {
    Objects.requireNonNull(visitor, "visitor");
    forEachBlock(
        block -> {
          MemorySegment all = MemorySegment.ofArray(block.payload()).asReadOnly();
          long bytes = all.byteSize() / block.count();
          for (long at = 0; at < all.byteSize(); at += bytes) {
            visitor.row(
                all.get(JAVA_LONG_UNALIGNED, at),
                all.get(JAVA_INT_UNALIGNED, at + Long.BYTES),
                all.asSlice(at + HEAD_BYTES, bytes - HEAD_BYTES));
          }
        });
  }

  /// Visits the blocks of rows.
  void forEachBlock(CheckpointDirectory.BlockVisitor visitor) throws IOException {
    for (CheckpointManifest.File file : manifest.files()) {
      var unused =
          directory.read(
              manifest,
              file,
              block -> {
                if (block.type() == Block.Type.ROWS) {
                  visitor.block(block);
                }
              });
    }
  }

  /// Returns the keys of a block.
  static long[] keys(Block block) {
    MemorySegment all = MemorySegment.ofArray(block.payload());
    long bytes = all.byteSize() / block.count();
    long[] keys = new long[block.count()];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = all.get(JAVA_LONG_UNALIGNED, i * bytes);
    }
    return keys;
  }

  /// Returns the first `floats` floats of each row of a block.
  static MemorySegment values(Block block, int floats) {
    MemorySegment all = MemorySegment.ofArray(block.payload());
    long bytes = all.byteSize() / block.count();
    if (floats * (long) Float.BYTES > bytes - HEAD_BYTES) {
      throw new IllegalArgumentException(
          "exported rows of %d floats, expected at least %d"
              .formatted((bytes - HEAD_BYTES) / Float.BYTES, floats));
    }
    float[] values = new float[Math.multiplyExact(floats, block.count())];
    MemorySegment to = MemorySegment.ofArray(values);
    long rowBytes = (long) Float.BYTES * floats;
    for (int i = 0; i < block.count(); i++) {
      MemorySegment.copy(all, i * bytes + HEAD_BYTES, to, i * rowBytes, rowBytes);
    }
    return to;
  }
}
