// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.comm.CommException;
import io.weft.kv.checkpoint.Block;
import io.weft.kv.checkpoint.CheckpointDirectory;
import io.weft.kv.checkpoint.CheckpointManifest;
import io.weft.kv.checkpoint.ShardFile;
import io.weft.kv.checkpoint.ShardFile.Content;
import io.weft.kv.checkpoint.ShardFileReader;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TensorParts;
import io.weft.kv.table.ValueTable;
import io.weft.kv.worker.KvHandle;
import io.weft.kv.worker.SaveRequests;
import io.weft.kv.worker.WorkerLinks;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystemException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/// Loads a checkpoint into the current shards, whose number may differ from the checkpoint's. One
/// thread of each worker.
final class CheckpointLoading {

  private static final int BUFFER_BYTES = 256 << 10;
  private static final int MOST_OPEN = 16;

  private final CheckpointOptions options;
  private final CheckpointDirectory directory;
  private final WorkerLinks links;
  private final List<TableSpec> tables;
  private final int shards;
  private final ArrayDeque<KvHandle<Void>> open = new ArrayDeque<>();

  CheckpointLoading(CheckpointOptions options, WorkerLinks links, List<TableSpec> tables) {
    this.options = options;
    this.directory = new CheckpointDirectory(options.directory(), options.job());
    this.links = links;
    this.tables = tables;
    this.shards = links.shards();
  }

  /// Returns the number of the last checkpoint whose files are all intact, or 0 if none was
  /// finished. Throws a `FileSystemException` with all reasons if none can be used.
  ///
  /// @param refused receives the reasons why later checkpoints cannot be used
  int choose(List<String> refused) throws IOException {
    List<Integer> numbers = directory.numbers();
    boolean some = false;
    for (int number : numbers.reversed()) {
      some |= directory.isFinished(number);
      try {
        directory.verify(number);
        return number;
      } catch (FileSystemException unusable) {
        refused.add(String.valueOf(unusable.getMessage()));
      }
    }
    if (some) {
      throw new FileSystemException(
          options.directory().toString(),
          null,
          "no checkpoint can be used: " + String.join("; ", refused));
    }
    return 0;
  }

  /// Loads this worker's share of the files.
  Checkpoint load(int number, int worker, int workers, List<String> refused)
      throws IOException, InterruptedException {
    List<CheckpointManifest> chain = directory.chain(number);
    CheckpointManifest last = chain.getLast();
    List<CheckpointManifest.File> files = files(last);
    for (int i = worker; i < files.size(); i += workers) {
      CheckpointManifest.File file = files.get(i);
      TableSpec table = table(TableSpec.parse(last.tables().get(file.table()).spec()));
      load(chain, file.name(), table, last.tables().get(file.table()).clock());
    }
    return CheckpointMaking.of(directory.of(number), last, refused);
  }

  /// Returns the files of the tables to restore. Throws `CommException.Mismatch` if the checkpoint
  /// lacks a named table.
  private List<CheckpointManifest.File> files(CheckpointManifest last) {
    if (options.tables().isEmpty()) {
      return last.files();
    }
    List<String> saved =
        last.tables().stream().map(it -> TableSpec.parse(it.spec()).name()).toList();
    if (!saved.containsAll(options.tables())) {
      throw new CommException.Mismatch(
          "the tables %s are to be restored from %s, which has %s"
              .formatted(new TreeSet<>(options.tables()), directory.of(last.number()), saved));
    }
    return last.files().stream()
        .filter(it -> options.tables().contains(saved.get(it.table())))
        .toList();
  }

  private TableSpec table(TableSpec saved) {
    TableSpec now =
        tables.stream()
            .filter(it -> it.name().equals(saved.name()))
            .findFirst()
            .orElseThrow(
                () ->
                    new CommException.Mismatch(
                        "table '%s' of the checkpoint is not registered; register all of its tables before restore, or name those to restore by CheckpointOptions.ofTables"
                            .formatted(saved.name())));
    List<String> differences = lasting(saved).differences(lasting(now));
    if (!differences.isEmpty()) {
      throw new CommException.Mismatch(
          "table '%s' was saved with another specification than it is registered with: %s"
              .formatted(saved.name(), String.join("; ", differences)));
    }
    return now;
  }

  /// Returns the name of a table's update rule, which determines the slots of its rows.
  static String ruleName(TableSpec spec) {
    int colon = spec.rule().indexOf(':');
    return colon < 0 ? spec.rule() : spec.rule().substring(0, colon);
  }

  /// Returns the properties of a table that must not change between checkpoint and restore. The
  /// rule's parameters, the consistency, the checks and the retention may change.
  private static TableSpec lasting(TableSpec spec) {
    TableSpec lasting =
        spec.withRule(ruleName(spec))
            .with(Consistency.synchronous())
            .with(TableSpec.Checks.LENGTHS)
            .with(Retention.ALL);
    return spec.kind() == TableSpec.Kind.TENSOR ? lasting : lasting.with(Slicer.hash());
  }

  /// Loads the files of this name in order, from the last one that contains all rows.
  private void load(List<CheckpointManifest> chain, String name, TableSpec table, long clock)
      throws IOException, InterruptedException {
    List<CheckpointManifest.File> files = new ArrayList<>();
    for (CheckpointManifest each : chain) {
      files.add(
          each.files().stream().filter(it -> it.name().equals(name)).findFirst().orElseThrow());
    }
    int first = files.size() - 1;
    while (files.get(first).content() == Content.CHANGED) {
      first--;
    }
    changeRule(chain.getLast(), files.getLast(), table);
    for (int i = first; i < files.size(); i++) {
      load(chain.get(i), files.get(i), table, clock);
    }
  }

  private void load(
      CheckpointManifest manifest, CheckpointManifest.File file, TableSpec table, long clock)
      throws IOException, InterruptedException {
    SaveRequests saves = new SaveRequests(links, table, options.limit());
    long step = step(manifest, file);
    MemorySegment[] buffers = new MemorySegment[shards];
    int[] filled = new int[shards];
    try {
      var unused =
          directory.read(
              manifest,
              file,
              block -> {
                if (block.type() == Block.Type.ELEMENTS) {
                  elements(saves, table, block, step, clock);
                } else if (block.type() == Block.Type.ROWS) {
                  spread(saves, table, block, step, clock, buffers, filled);
                }
              });
      for (int shard = 0; shard < shards; shard++) {
        MemorySegment buffer = buffers[shard];
        send(
            saves,
            shard,
            step,
            clock,
            buffer == null ? MemorySegment.ofArray(new byte[0]) : buffer.asSlice(0, filled[shard]));
      }
      while (!open.isEmpty()) {
        var unusedToo = open.remove().await();
      }
    } catch (InterruptedIOException interrupted) {
      throw new InterruptedException();
    }
  }

  /// Restores the changes of the update rule, unless the program has registered another one.
  private void changeRule(
      CheckpointManifest manifest, CheckpointManifest.File file, TableSpec table)
      throws IOException, InterruptedException {
    ShardFile header = header(manifest, file);
    if (TableSpec.parse(header.spec()).rule().equals(table.rule())) {
      SaveRequests saves = new SaveRequests(links, table, options.limit());
      for (String each : header.changes()) {
        var unused = saves.rule(each).await();
      }
    }
  }

  private ShardFile header(CheckpointManifest manifest, CheckpointManifest.File file)
      throws IOException {
    try (var reader = new ShardFileReader(directory.of(manifest.number()).resolve(file.name()))) {
      return reader.header();
    }
  }

  private long step(CheckpointManifest manifest, CheckpointManifest.File file) throws IOException {
    return header(manifest, file).step();
  }

  /// Copies each row of a block into the buffer for its shard.
  private void spread(
      SaveRequests saves,
      TableSpec spec,
      Block block,
      long step,
      long clock,
      MemorySegment[] buffers,
      int[] filled)
      throws IOException {
    MemorySegment rows = MemorySegment.ofArray(block.payload());
    long at = 0;
    for (int i = 0; i < block.count(); i++) {
      int rowBytes = rowBytes(spec, block, at);
      int shard = spec.slicer().shard(rows.get(JAVA_LONG_UNALIGNED, at), shards);
      MemorySegment buffer = buffers[shard];
      if (buffer != null && filled[shard] + rowBytes > buffer.byteSize()) {
        try {
          send(saves, shard, step, clock, buffer.asSlice(0, filled[shard]));
        } catch (InterruptedException e) {
          throw new InterruptedIOException();
        }
        filled[shard] = 0;
      }
      if (buffer == null || rowBytes > buffer.byteSize()) {
        buffer = MemorySegment.ofArray(new byte[Math.max(BUFFER_BYTES, rowBytes)]);
        buffers[shard] = buffer;
      }
      MemorySegment.copy(rows, at, buffer, filled[shard], rowBytes);
      filled[shard] += rowBytes;
      at += rowBytes;
    }
  }

  /// Returns the bytes of the row or value at an offset of a block.
  private int rowBytes(TableSpec spec, Block block, long at) throws IOException {
    byte[] payload = block.payload();
    if (spec.kind() != TableSpec.Kind.VALUES) {
      return payload.length / block.count();
    }
    long left = payload.length - at;
    if (left >= ValueTable.HEAD_BYTES) {
      int length = ValueTable.exportedLength(MemorySegment.ofArray(payload), at);
      long bytes = ValueTable.exportedBytes(length, UpdateRules.parse(spec.rule()).slots());
      if (length > 0 && bytes <= left) {
        return (int) bytes;
      }
    }
    throw new FileSystemException(
        options.directory().toString(),
        null,
        "table '%s': the bytes at offset %d of a block of %d bytes are not a value"
            .formatted(spec.name(), at, payload.length));
  }

  private void elements(SaveRequests saves, TableSpec spec, Block block, long step, long clock)
      throws IOException {
    TensorParts parts = TensorParts.of(spec);
    if (block.part() < 0 || block.part() >= parts.count()) {
      throw new FileSystemException(
          options.directory().toString(),
          null,
          "part %d of tensor '%s', which has %d"
              .formatted(block.part(), spec.name(), parts.count()));
    }
    MemorySegment content = MemorySegment.ofArray(block.payload());
    try {
      room();
      int shard = parts.shard(block.part(), shards);
      open.add(saves.load(shard, block.part(), block.at(), step, clock, content));
    } catch (InterruptedException e) {
      throw new InterruptedIOException();
    }
  }

  private void room() throws InterruptedException {
    while (open.size() >= MOST_OPEN) {
      var unused = open.remove().await();
    }
  }

  private void send(SaveRequests saves, int shard, long step, long clock, MemorySegment content)
      throws InterruptedException {
    room();
    open.add(saves.load(shard, 0, 0, step, clock, content));
  }
}
