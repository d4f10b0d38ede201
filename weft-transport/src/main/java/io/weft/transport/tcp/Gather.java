// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionViews;
import io.weft.transport.ring.ByteRing;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import org.jspecify.annotations.Nullable;

/// The buffers of one gathering write: runs of the staging ring with large payloads between them.
/// It is reused and does not allocate in steady state.
final class Gather {

  private static final int MAX_PIECES = 64;
  private static final int MAX_PAYLOAD = RegionViews.MAX_BYTES;

  private final ByteRing ring;
  private final ByteBuffer[] runs = new ByteBuffer[MAX_PIECES];
  private final ByteBuffer[] pieces = new ByteBuffer[MAX_PIECES];
  private final @Nullable LocalRegion[] touched = new LocalRegion[MAX_PIECES];
  private final boolean[] visited = new boolean[MAX_PIECES];
  private @Nullable LocalRegion vanished;
  private int count;
  private int runCount;
  private long planned;

  Gather(ByteRing ring, MemorySegment staging) {
    this.ring = ring;
    for (int i = 0; i < runs.length; i++) {
      runs[i] = staging.asByteBuffer();
    }
  }

  /// Collects the buffers of the next write.
  ///
  /// Hot path.
  void collect(TransferRing transfers) {
    count = 0;
    runCount = 0;
    planned = 0;
    vanished = null;
    long cursor = ring.tail();
    int payload = MAX_PAYLOAD;
    int i = 0;
    while (count < MAX_PIECES) {
      TransferRing.Transfer next = transfers.peek(i);
      long stop = next == null ? ring.head() : next.at;
      if (cursor < stop) {
        long from = ring.skipGap(cursor);
        cursor = ring.runEnd(from, stop);
        addRun(from, cursor);
        continue;
      }
      if (next == null) {
        break;
      }
      if (next.remaining > 0) {
        int bytes = (int) Math.min(payload, next.remaining);
        if (bytes == 0 || !addPayload(next, bytes) || bytes < next.remaining) {
          break;
        }
        payload -= bytes;
      }
      i++;
    }
  }

  long planned() {
    return planned;
  }

  /// Throws if the region of the next payload was closed.
  void checkRegion() throws ProtocolFault {
    if (vanished != null) {
      throw new ProtocolFault(vanished + " was closed while a read of it was answered");
    }
  }

  /// Makes one system call; returns the bytes that the kernel accepted.
  ///
  /// Hot path.
  long send(GatheringByteChannel channel) throws IOException {
    try {
      return count == 1 ? channel.write(pieces[0]) : channel.write(pieces, 0, count);
    } catch (IllegalStateException freed) {
      // The peer expects the rest of this frame and must not mistake other bytes for it.
      throw new IOException(
          "memory of an operation in progress was freed: its arena is closed", freed);
    } finally {
      for (int i = 0; i < count; i++) {
        LocalRegion region = touched[i];
        if (region != null) {
          region.views().giveBack();
          if (visited[i]) {
            region.leave();
          }
          touched[i] = null;
        }
      }
    }
  }

  private void addRun(long from, long to) {
    int index = ring.index(from);
    int bytes = (int) (to - from);
    pieces[count++] = runs[runCount++].limit(index + bytes).position(index);
    planned += bytes;
  }

  private boolean addPayload(TransferRing.Transfer transfer, int bytes) {
    LocalRegion region = transfer.region;
    if (region == null) {
      throw new IllegalStateException("a payload without a region");
    }
    // This side's posted work keeps its region open; an answer to a peer's read does not.
    boolean visit = !transfer.own;
    if (visit && !region.visit()) {
      vanished = region;
      return false;
    }
    visited[count] = visit;
    touched[count] = region;
    pieces[count++] = region.views().take(transfer.offset, bytes);
    planned += bytes;
    return true;
  }
}
