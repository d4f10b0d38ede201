// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.event.OperationNames;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.TableKeys;
import io.weft.kv.key.KeyList;
import io.weft.kv.key.KeySlice;
import io.weft.kv.worker.ShardRequest.Memory;
import io.weft.kv.worker.ShardRequest.What;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// A pull of rows of several tables by one request for each shard. Keys are sent with every
/// request, and rows are copied on both sides. User thread.
public final class GroupPull {

  private final WorkerLinks links;
  private final List<Part> parts = new ArrayList<>();
  private long keys;
  private long bytes;

  /// The rows of one table.
  private record Part(TableClock table, long clock, KeyList keys, int width, MemorySegment into) {}

  /// The rows of one table on one shard.
  private record Piece(Part part, KeySlice slice) {
    long bytes() {
      return (long) Float.BYTES * part.width * slice.count();
    }
  }

  /// Creates a pull of no tables.
  public GroupPull(WorkerLinks links) {
    this.links = links;
  }

  /// Adds a table.
  ///
  /// @param into the destination of FLOAT32 rows in the order of the keys
  public void add(TableClock table, KeyList list, MemorySegment into) {
    int width = (int) list.table().width();
    parts.add(new Part(table, table.next(KvOp.PULL), list, width, into));
    keys += list.size();
    bytes += into.byteSize();
  }

  /// Sends the requests.
  public KvHandle<Void> send() throws InterruptedException {
    KvHandle<Void> handle =
        links.handle(
            "%s of %d keys of %d tables".formatted(KvOp.PULL_TABLES, keys, parts.size()),
            links.begin(OperationNames.NO_TABLE, KvOp.PULL_TABLES, keys, bytes),
            () -> null);
    try {
      for (int shard = 0; shard < links.shards(); shard++) {
        List<Piece> pieces = pieces(shard);
        if (!pieces.isEmpty()) {
          send(shard, pieces, handle);
        }
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  private List<Piece> pieces(int shard) {
    List<Piece> pieces = new ArrayList<>();
    for (Part part : parts) {
      for (KeySlice slice : part.keys.slices()) {
        if (slice.shard() == shard && slice.count() > 0) {
          pieces.add(new Piece(part, slice));
        }
      }
    }
    return pieces;
  }

  private void send(int shard, List<Piece> pieces, KvHandle<Void> handle)
      throws InterruptedException {
    List<TableKeys> asked = new ArrayList<>();
    long answered = (long) Long.BYTES * pieces.size();
    for (Piece each : pieces) {
      asked.add(new TableKeys(each.part.keys.table().id(), each.part.clock, each.slice.keys()));
      answered += each.bytes();
    }
    links.submit(
        new What(KvOp.PULL_TABLES, shard, 0, 0),
        new Memory(
            null,
            0,
            TableKeys.write(asked),
            MemorySegment.ofArray(new byte[Math.toIntExact(answered)])),
        handle,
        (reply, written) -> take(shard, pieces, written));
  }

  private static void take(int shard, List<Piece> pieces, MemorySegment written) {
    long at = (long) Long.BYTES * pieces.size();
    for (int i = 0; i < pieces.size(); i++) {
      Part part = pieces.get(i).part;
      long told = written.get(JAVA_LONG_UNALIGNED, (long) Long.BYTES * i);
      part.table.heardPull(shard, part.clock, told);
      long bytes = pieces.get(i).bytes();
      pieces.get(i).slice.scatter(written.asSlice(at, bytes), part.width, part.into);
      at += bytes;
    }
  }
}
