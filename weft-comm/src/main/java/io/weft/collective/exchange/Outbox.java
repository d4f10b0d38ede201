// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import io.weft.cluster.Mesh;
import io.weft.transport.PostResult;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Sends messages in order, and queues the control messages for which an endpoint has no room. The
/// operations in flight bound their number. A peer that sends requests and never reads the replies
/// is dropped. Confined to the progress thread.
final class Outbox {

  /// More than the control messages of all operations that may run.
  private static final int MAX_WAITING_BYTES = 32 << 20;

  private final Mesh mesh;
  private @Nullable ArrayDeque<byte[]>[] waiting;
  private long[] waitingBytes;
  private final MemorySegment scratch;
  private int waitingCount;

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of generics
  Outbox(Mesh mesh, int peers, int maxMessageBytes) {
    this.mesh = mesh;
    this.waiting = new ArrayDeque[peers];
    this.waitingBytes = new long[peers];
    this.scratch = Arena.ofAuto().allocate(maxMessageBytes, 64);
  }

  void add(int peer) {
    waiting = Arrays.copyOf(waiting, peer + 1);
    waitingBytes = Arrays.copyOf(waitingBytes, peer + 1);
  }

  /// Returns the memory in which a message is composed before it is sent; it fits the longest
  /// message.
  MemorySegment scratch() {
    return scratch;
  }

  /// Sends the first `bytes` of the scratch, now or later. Sends nothing to a peer that is gone.
  void send(int peer, long bytes) {
    if (mesh.isGone(peer)) {
      return;
    }
    MemorySegment message = scratch.asSlice(0, bytes);
    ArrayDeque<byte[]> queue = waiting[peer];
    if ((queue != null && !queue.isEmpty())
        || mesh.endpoint(peer).trySend(message) == PostResult.BACK_PRESSURED) {
      if (queue == null) {
        queue = new ArrayDeque<>();
        waiting[peer] = queue;
      }
      queue.addLast(message.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
      waitingCount++;
      waitingBytes[peer] += bytes;
      if (waitingBytes[peer] > MAX_WAITING_BYTES) {
        mesh.drop(peer, "it sends requests and does not read the replies");
      }
    }
  }

  /// Sends the first `bytes` of the scratch now, or returns false and sends nothing.
  ///
  /// Hot path.
  boolean trySend(int peer, long bytes) {
    ArrayDeque<byte[]> queue = waiting[peer];
    return !mesh.isGone(peer)
        && (queue == null || queue.isEmpty())
        && mesh.endpoint(peer).trySend(scratch.asSlice(0, bytes)) == PostResult.POSTED;
  }

  boolean holds(int peer) {
    ArrayDeque<byte[]> queue = waiting[peer];
    return queue != null && !queue.isEmpty();
  }

  /// Tries to send waiting messages; returns the number sent.
  int flush() {
    if (waitingCount == 0) {
      return 0;
    }
    int sent = 0;
    for (int peer = 0; peer < waiting.length; peer++) {
      ArrayDeque<byte[]> queue = waiting[peer];
      while (queue != null && !queue.isEmpty()) {
        if (!mesh.isGone(peer)) {
          byte[] first = queue.getFirst();
          MemorySegment.copy(MemorySegment.ofArray(first), 0, scratch, 0, first.length);
          if (mesh.endpoint(peer).trySend(scratch.asSlice(0, first.length))
              == PostResult.BACK_PRESSURED) {
            break;
          }
        }
        waitingBytes[peer] -= queue.removeFirst().length;
        waitingCount--;
        sent++;
      }
    }
    return sent;
  }
}
