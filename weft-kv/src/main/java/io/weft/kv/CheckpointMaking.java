// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.kv.checkpoint.CheckpointDirectory;
import io.weft.kv.checkpoint.CheckpointManifest;
import io.weft.kv.checkpoint.ShardFile.Content;
import io.weft.kv.frame.KvOp;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.KvHandle;
import io.weft.kv.worker.SaveRequests;
import io.weft.kv.worker.WorkerLinks;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/// Creates one checkpoint: requests the files of all shards and writes the manifest when all are on
/// disk. One thread.
final class CheckpointMaking {

  private final CheckpointOptions options;
  private final CheckpointDirectory directory;
  private final WorkerLinks links;
  private final List<TableSpec> tables;
  private final int shards;
  private final KvOp op;

  /// @param op `CUT`, or `EXPORT` for files that later checkpoints do not depend on
  CheckpointMaking(CheckpointOptions options, WorkerLinks links, List<TableSpec> tables, KvOp op) {
    this.op = op;
    this.options = options;
    this.directory = new CheckpointDirectory(options.directory(), options.job());
    this.links = links;
    this.tables = tables.stream().sorted(Comparator.comparing(TableSpec::name)).toList();
    this.shards = links.shards();
  }

  Checkpoint make() throws IOException, InterruptedException {
    CheckpointManifest base = base();
    int number = directory.begin();
    byte[] random = new byte[8];
    new SecureRandom().nextBytes(random);
    String id = HexFormat.of().formatHex(random);
    long[] clocks = new long[tables.size()];
    List<KvHandle<AtomicReferenceArray<String>>> cuts = new ArrayList<>();
    List<CheckpointManifest.File> files = new ArrayList<>();
    List<TableSpec> held = new ArrayList<>();
    boolean written = false;
    try {
      for (TableSpec each : tables) {
        held.add(each);
        clocks[held.size() - 1] = saves(each).hold();
      }
      for (int i = 0; i < clocks.length; i++) {
        cuts.add(cut(i, number, id, base, clocks[i]));
      }
      for (int i = 0; i < clocks.length; i++) {
        AtomicReferenceArray<String> said = cuts.get(i).await();
        for (int shard = 0; shard < shards; shard++) {
          files.add(file(i, shard, said.get(shard)));
        }
      }
      written = true;
    } finally {
      if (!written) {
        for (TableSpec each : held) {
          var unused = saves(each).release();
        }
      }
    }
    boolean changed = files.stream().anyMatch(it -> it.content() == Content.CHANGED);
    var manifest =
        new CheckpointManifest(
            options.job(),
            number,
            id,
            changed && base != null ? base.number() : 0,
            shards,
            specs(clocks),
            files);
    directory.finish(manifest);
    directory.prune(options.keep());
    return of(directory.of(number), manifest, List.of());
  }

  static Checkpoint of(Path path, CheckpointManifest manifest, List<String> refused) {
    Map<String, Long> clocks = new HashMap<>();
    for (CheckpointManifest.Table each : manifest.tables()) {
      TableSpec spec = TableSpec.parse(each.spec());
      if (spec.consistency().isSynchronous()) {
        clocks.put(spec.name(), each.clock());
      }
    }
    return new Checkpoint(
        path,
        manifest.number(),
        manifest.files().stream().mapToLong(CheckpointManifest.File::rows).sum(),
        manifest.files().stream().mapToLong(CheckpointManifest.File::bytes).sum(),
        clocks,
        refused);
  }

  private SaveRequests saves(TableSpec table) {
    return new SaveRequests(links, table, options.limit());
  }

  private KvHandle<AtomicReferenceArray<String>> cut(
      int table, int number, String id, @Nullable CheckpointManifest base, long clock)
      throws InterruptedException {
    Path in = directory.of(number);
    return saves(tables.get(table))
        .cut(
            op,
            shard -> in.resolve(CheckpointManifest.fileName(table, shard)).toString(),
            id,
            base == null ? "" : base.id(),
            clock);
  }

  private List<CheckpointManifest.Table> specs(long[] clocks) {
    List<CheckpointManifest.Table> specs = new ArrayList<>();
    for (int i = 0; i < clocks.length; i++) {
      specs.add(new CheckpointManifest.Table(tables.get(i).text(), clocks[i]));
    }
    return specs;
  }

  private static CheckpointManifest.File file(int table, int shard, String said) {
    String[] words = said.split(" ", -1);
    return new CheckpointManifest.File(
        table,
        shard,
        Content.valueOf(words[0]),
        Long.parseLong(words[1]),
        Integer.parseUnsignedInt(words[2], 16),
        Long.parseLong(words[3]));
  }

  /// Returns the last checkpoint if the new one may contain only the changes since then.
  private @Nullable CheckpointManifest base() throws IOException {
    List<Integer> finished = directory.numbers().stream().filter(directory::isFinished).toList();
    if (finished.isEmpty()) {
      return null;
    }
    try {
      List<CheckpointManifest> chain = directory.chain(finished.getLast());
      CheckpointManifest last = chain.getLast();
      List<String> specs = last.tables().stream().map(CheckpointManifest.Table::spec).toList();
      boolean same = specs.equals(tables.stream().map(TableSpec::text).toList());
      return same && last.shards() == shards && chain.size() < options.fullEvery() ? last : null;
    } catch (FileSystemException unusable) {
      return null; // a full checkpoint needs no base
    }
  }
}
