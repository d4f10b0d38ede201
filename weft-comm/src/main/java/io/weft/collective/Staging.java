// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import java.util.ArrayDeque;

/// Registered windows for segments that wait to be combined: the last one given back is the next
/// one lent, because it is still in the cache. A window has a full one's bytes, or half of them, or
/// a quarter, …, so that a short run does not take what a long one needs. What is lent is bounded
/// by the operations in flight; of what is idle, at most `keepBytes` are kept. Confined to the
/// lane's thread.
final class Staging implements AutoCloseable {

  private static final int SIZES = 16;
  private static final long LEAST_BYTES = 4096;

  private final Transport transport;
  private final long windowBytes;
  private final long keepBytes;
  private final ArrayDeque<MemoryRegion>[] idle;
  private long idleBytes;
  private int lent;

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of generics
  Staging(Transport transport, long windowBytes, long keepBytes) {
    this.transport = transport;
    this.windowBytes = windowBytes;
    this.keepBytes = keepBytes;
    this.idle = new ArrayDeque[SIZES];
  }

  /// Bytes of a full window.
  long windowBytes() {
    return windowBytes;
  }

  /// A window of at least so many bytes, which are at most a full one's.
  MemoryRegion lease(long bytes) {
    lent++;
    int size = sizeOf(bytes);
    ArrayDeque<MemoryRegion> same = idle[size];
    MemoryRegion region = same == null ? null : same.pollLast();
    if (region == null) {
      return transport.allocate(windowBytes >> size);
    }
    idleBytes -= windowBytes >> size;
    return region;
  }

  void giveBack(MemoryRegion region) {
    lent--;
    int size = sizeOf(region.segment().byteSize());
    if (idleBytes + (windowBytes >> size) > keepBytes) {
      region.close();
      return;
    }
    ArrayDeque<MemoryRegion> same = idle[size];
    if (same == null) {
      same = new ArrayDeque<>();
      idle[size] = same;
    }
    same.addLast(region);
    idleBytes += windowBytes >> size;
  }

  /// A window that peers may still write to is closed, not used again.
  void forget(MemoryRegion region) {
    lent--;
    region.close();
  }

  int lent() {
    return lent;
  }

  /// How often a full window is halved.
  private int sizeOf(long bytes) {
    long wanted = Math.max(bytes, Math.min(LEAST_BYTES, windowBytes));
    int size = 0;
    while (size + 1 < SIZES && windowBytes >> (size + 1) >= wanted) {
      size++;
    }
    return size;
  }

  @Override
  public void close() {
    for (ArrayDeque<MemoryRegion> same : idle) {
      if (same != null) {
        same.forEach(MemoryRegion::close);
        same.clear();
      }
    }
    idleBytes = 0;
  }
}
