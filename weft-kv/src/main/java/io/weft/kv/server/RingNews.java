// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.cluster.channel.Request;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.spec.Replicas;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Iterator;
import java.util.Set;
import java.util.TreeSet;

/// Tells servers and workers which servers have a shard from now on. Only the latest ring counts.
/// Confined to the shard's thread.
public final class RingNews {

  private static final int MOST_BYTES = 1 << 16;

  private final int shard;
  private final ShardContext context;
  private final Set<Integer> owed = new TreeSet<>();
  private MemorySegment text = MemorySegment.NULL;

  RingNews(int shard, ShardContext context) {
    this.shard = shard;
    this.context = context;
  }

  /// The head of a request about rings.
  static KvHead head(KvOp op, int shard, int ring) {
    return new KvHead(
        op, KvHead.Keys.NONE, shard, 0, 0, 0, 0, 0, 0, 0, 0, KvHead.Values.FLOAT32, ring);
  }

  /// A ring and who of it is lost, for the payload of a request: who hears of it must find the same
  /// servers in it, though it may not have heard of a loss yet.
  static byte[] bytes(Replicas ring, Set<Integer> lost) {
    return ring.text(lost).getBytes(StandardCharsets.UTF_8);
  }

  /// What `bytes` wrote.
  record Told(Replicas ring, Set<Integer> lost) {}

  /// Reads it.
  ///
  /// @param known another version of the ring
  static Told read(MemorySegment payload, Replicas known) throws Refusal {
    try {
      String text = text(payload);
      return new Told(known.after(text), known.lost(text));
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
  }

  /// What `bytes` wrote, for `Replicas.after`. Throws `IllegalArgumentException` where it is too
  /// long.
  public static String text(MemorySegment payload) {
    if (payload.byteSize() > MOST_BYTES) {
      throw new IllegalArgumentException("a ring of " + payload.byteSize() + " bytes");
    }
    return new String(payload.toArray(JAVA_BYTE), StandardCharsets.UTF_8);
  }

  /// These shall hear of it.
  ///
  /// @param lost servers of it that are lost
  /// @param peers ranks, without this one
  void tell(Replicas ring, Set<Integer> lost, Collection<Integer> peers) {
    byte[] bytes = bytes(ring, lost);
    text = Arena.ofAuto().allocate(bytes.length, 8);
    MemorySegment.copy(bytes, 0, text, JAVA_BYTE, 0, bytes.length);
    owed.addAll(peers);
    flush(ring);
  }

  /// Tells those for whom there is room.
  void flush(Replicas ring) {
    if (owed.isEmpty()) {
      return;
    }
    MemorySegment head = MemorySegment.ofArray(new byte[KvHead.BYTES]);
    head(KvOp.RING, shard, ring.version()).write(head);
    Mirroring by = context.mirroring();
    Iterator<Integer> each = owed.iterator();
    while (each.hasNext()) {
      var request = Request.of(by.kind(), head, text, by.limit());
      // Who is not told asks a server, and is told then.
      if (by.channel().tryRequest(each.next(), request, outcome -> {})) {
        each.remove();
      }
    }
  }

  /// Whether somebody is to be told.
  boolean isBusy() {
    return !owed.isEmpty();
  }
}
