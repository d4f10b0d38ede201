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

/// Announces the new replica set of a shard to servers and workers. Only the latest version is
/// sent. Confined to the shard's thread.
public final class ReplicasNotice {

  private static final int MOST_BYTES = 1 << 16;

  private final int shard;
  private final ShardContext context;
  private final Set<Integer> owed = new TreeSet<>();
  private MemorySegment text = MemorySegment.NULL;

  ReplicasNotice(int shard, ShardContext context) {
    this.shard = shard;
    this.context = context;
  }

  /// Returns the head of a request about a replica set.
  static KvHead head(KvOp op, int shard, int ring) {
    return new KvHead(
        op, new KvHead.Target(shard, 0, 0, ring), KvHead.Progress.NONE, KvHead.Listed.NONE);
  }

  /// Returns a replica set and its lost servers as the payload of a request. The recipient must
  /// compute the same servers, although it may not yet have learned of a loss.
  static byte[] bytes(Replicas ring, Set<Integer> lost) {
    return ring.text(lost).getBytes(StandardCharsets.UTF_8);
  }

  /// A received replica set and its lost servers.
  record Told(Replicas ring, Set<Integer> lost) {}

  /// Parses a payload written by `bytes`.
  ///
  /// @param known another version of the replica set
  static Told read(MemorySegment payload, Replicas known) throws Refusal {
    try {
      String text = text(payload);
      return new Told(known.after(text), known.lost(text));
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
  }

  /// Returns the text of a payload written by `bytes`, for `Replicas.after`. Throws
  /// `IllegalArgumentException` if it is too long.
  public static String text(MemorySegment payload) {
    if (payload.byteSize() > MOST_BYTES) {
      throw new IllegalArgumentException("a replica set of " + payload.byteSize() + " bytes");
    }
    return new String(payload.toArray(JAVA_BYTE), StandardCharsets.UTF_8);
  }

  /// Announces a replica set.
  ///
  /// @param lost servers of it that are lost
  /// @param peers the recipients, without this rank
  void tell(Replicas ring, Set<Integer> lost, Collection<Integer> peers) {
    byte[] bytes = bytes(ring, lost);
    text = Arena.ofAuto().allocate(bytes.length, 8);
    MemorySegment.copy(bytes, 0, text, JAVA_BYTE, 0, bytes.length);
    owed.addAll(peers);
    flush(ring);
  }

  /// Sends the pending announcements that fit.
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
      // A recipient that misses this learns the replica set from the answer to its next request.
      if (by.channel().tryRequest(each.next(), request, outcome -> {})) {
        each.remove();
      }
    }
  }

  boolean isBusy() {
    return !owed.isEmpty();
  }
}
