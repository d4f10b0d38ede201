// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.route;

import io.weft.cluster.item.ReceivePool;
import io.weft.rendezvous.frame.TensorSpec;
import io.weft.transport.RemoteRegion;
import io.weft.transport.Transport;
import io.weft.transport.pool.SliceLease;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// The memory for incoming tensors: one registered pool. Each edge keeps its last buffer for the
/// next tensor [JIA17 §3.3]. Confined to the progress thread, except that consumers return buffers
/// on any thread. The progress thread collects these; after it has ended, the consumers free them
/// themselves.
public final class ReceiveBuffers {

  private final Transport transport;
  private final ReceivePool pool;
  private final Routes routes;
  private final AtomicReference<@Nullable ReceivedTensor> returned = new AtomicReference<>();
  private final AtomicInteger leases = new AtomicInteger();
  private final List<RouteBuffer> leaving = new ArrayList<>();
  private volatile long registrations;
  private volatile boolean ended;

  public ReceiveBuffers(Transport transport, long memoryBytes, Routes routes) {
    this.transport = transport;
    this.pool = new ReceivePool(transport, memoryBytes);
    this.routes = routes;
  }

  /// Returns whether a tensor of this length fits the pool.
  public boolean canHold(long bytes) {
    return pool.fits(bytes);
  }

  public long memoryBytes() {
    return pool.mostBytes();
  }

  /// Returns memory for a tensor that fits the pool; null while the pool has no room.
  public @Nullable RouteBuffer take(Route route, long bytes) {
    RouteBuffer kept = route.takeKept();
    if (kept != null) {
      if (kept.memory().byteSize() == bytes) {
        return kept;
      }
      discard(kept);
    }
    Optional<SliceLease> piece = pool.tryLease(bytes);
    if (piece.isEmpty() && discardKept()) {
      piece = pool.tryLease(bytes);
    }
    return piece.isEmpty() ? null : new RouteBuffer(piece.get(), bytes);
  }

  private boolean discardKept() {
    boolean found = false;
    for (Route route : routes.all()) {
      RouteBuffer kept = route.takeKept();
      if (kept != null) {
        discard(kept);
        found = true;
      }
    }
    return found;
  }

  /// Returns the handle that a peer needs to write into the buffer.
  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  public RemoteRegion export(RouteBuffer receiveBuffer) {
    if (!receiveBuffer.isRegistered()) {
      registrations++;
    }
    return receiveBuffer.export(transport);
  }

  /// Gives a received tensor to its consumer.
  public ReceivedTensor give(Route route, RouteBuffer receiveBuffer, TensorSpec signature) {
    leases.getAndIncrement();
    return new ReceivedTensor(this, route, receiveBuffer, signature);
  }

  /// Discards a buffer that no consumer has seen. It is freed when no peer can write it any more.
  public void discard(RouteBuffer receiveBuffer) {
    if (receiveBuffer.withdraw()) {
      leaving.add(receiveBuffer);
    } else {
      receiveBuffer.free();
    }
  }

  /// Returns a buffer. Any thread.
  public void giveBack(ReceivedTensor tensor) {
    ReceivedTensor seen;
    do {
      seen = returned.get();
      tensor.next = seen;
    } while (!returned.compareAndSet(seen, tensor));
    if (ended) {
      freeAll();
    }
  }

  /// Takes the buffers that consumers have returned.
  ///
  /// Hot path.
  public int collect() {
    if (!leaving.isEmpty()) {
      leaving.removeIf(ReceiveBuffers::hasLeft);
    }
    ReceivedTensor tensor = returned.get() == null ? null : returned.getAndSet(null);
    int collected = 0;
    for (; tensor != null; tensor = tensor.next) {
      collected++;
      leases.getAndDecrement();
      if (ended || !tensor.route.keep(tensor.receiveBuffer)) {
        discard(tensor.receiveBuffer);
      }
    }
    return collected;
  }

  private static boolean hasLeft(RouteBuffer receiveBuffer) {
    boolean left = !receiveBuffer.withdraw();
    if (left) {
      receiveBuffer.free();
    }
    return left;
  }

  /// Any thread.
  public long leases() {
    return leases.get();
  }

  /// Any thread.
  public long registrations() {
    return registrations;
  }

  public int leaving() {
    return leaving.size();
  }

  /// Frees the buffers that no consumer holds, after the transport has closed. The others are freed
  /// when they are returned.
  public void end() {
    ended = true; // volatile: frees earlier returns here, later ones in giveBack
    freeAll();
  }

  private synchronized void freeAll() {
    int unused = collect();
    boolean unusedToo = discardKept();
    if (leases.get() == 0 && leaving.isEmpty()) {
      pool.close();
    }
  }
}
