// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.route;

import io.weft.cluster.item.SendPool;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.pool.SliceLease;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The memory for outgoing tensors that peers cannot read where they lie: one registered pool, into
/// which each such tensor is copied once. Each edge keeps its last buffer, with its registration,
/// for the next tensor [JIA17 §3.3]. Confined to the progress thread.
public final class SendBuffers {

  private final Transport transport;
  private final SendPool pool;
  private final Routes routes;
  private final List<RouteBuffer> leaving = new ArrayList<>();
  private boolean ended;

  /// @param memoryBytes bound of the pool; tensors without room are registered where they lie
  public SendBuffers(Transport transport, long memoryBytes, Routes routes) {
    this.transport = transport;
    this.pool = new SendPool(transport, memoryBytes);
    this.routes = routes;
  }

  /// Returns a copy of the tensor's data in a buffer; null if peers can read the data where it
  /// lies, or the pool has no room. Throws `IllegalStateException` if the data was freed.
  public @Nullable RouteBuffer copy(Route route, MemorySegment data) {
    RouteBuffer buffer = pool.takes(data) ? take(route, data.byteSize()) : null;
    if (buffer == null) {
      return null;
    }
    try {
      pool.copy(data, buffer.memory());
    } catch (RuntimeException | Error freed) {
      discard(buffer);
      throw freed;
    }
    return buffer;
  }

  private @Nullable RouteBuffer take(Route route, long bytes) {
    RouteBuffer kept = route.takeKeptToSend();
    if (kept != null && kept.memory().byteSize() == bytes) {
      return kept;
    }
    if (kept != null) {
      discard(kept);
    }
    SliceLease piece = pool.tryLease(bytes);
    if (piece == null) {
      discardKept();
      piece = pool.tryLease(bytes);
    }
    return piece == null ? null : new RouteBuffer(piece, bytes);
  }

  /// Returns the buffer's region, registering it if necessary.
  public MemoryRegion region(RouteBuffer buffer) {
    return buffer.region(transport);
  }

  /// Keeps a buffer that no peer accesses for the edge's next tensor.
  public void keep(Route route, RouteBuffer buffer) {
    if (ended || !route.keepToSend(buffer)) {
      discard(buffer);
    }
  }

  /// Discards a buffer. It is freed when no peer can read it any more.
  public void discard(RouteBuffer buffer) {
    if (buffer.withdraw()) {
      leaving.add(buffer);
    } else {
      pool.free(buffer.piece());
    }
  }

  private void discardKept() {
    for (Route route : routes.all()) {
      RouteBuffer kept = route.takeKeptToSend();
      if (kept != null) {
        discard(kept);
      }
    }
  }

  /// Frees the discarded buffers that peers no longer access. Returns their number.
  ///
  /// Hot path.
  public int collect() {
    if (leaving.isEmpty()) {
      return 0;
    }
    List<RouteBuffer> left = leaving.stream().filter(buffer -> !buffer.withdraw()).toList();
    leaving.removeAll(left);
    left.forEach(buffer -> pool.free(buffer.piece()));
    return left.size();
  }

  /// Returns the number of discarded buffers that peers may still access.
  public int leaving() {
    return leaving.size();
  }

  /// Returns the total of copied bytes. Any thread.
  public long copiedBytes() {
    return pool.copiedBytes();
  }

  /// Frees the buffers, after the transport has closed.
  public void end() {
    ended = true;
    discardKept();
    int unused = collect();
    pool.end();
  }
}
