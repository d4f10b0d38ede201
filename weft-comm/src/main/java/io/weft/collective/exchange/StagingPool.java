// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Registered windows for segments that wait to be combined, and for bounce buffers of private
/// tensors. The window returned last is lent first, because it is still in the cache. Lengths are
/// powers of two, so that a short run does not occupy the window of a long one. The operations in
/// flight bound the windows lent for segments. `keepBytes` bounds the windows lent for tensors, and
/// separately the idle windows. Confined to the progress thread.
public final class StagingPool implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StagingPool.class);
  private static final long LONGEST_BYTES = 1L << 32;
  private static final int SIZES = 21;
  private static final long LEAST_BYTES = LONGEST_BYTES >> (SIZES - 1);

  private final Transport transport;
  private final long keepBytes;
  private final ArrayDeque<MemoryRegion>[] idle;
  private long idleBytes;
  private long lentBytes;

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of generics
  StagingPool(Transport transport, long keepBytes) {
    this.transport = transport;
    this.keepBytes = keepBytes;
    this.idle = new ArrayDeque[SIZES];
  }

  /// Lends a window of at least this many bytes.
  public MemoryRegion lease(long bytes) {
    int size = sizeOf(bytes);
    ArrayDeque<MemoryRegion> same = idle[size];
    MemoryRegion region = same == null ? null : same.pollLast();
    if (region == null) {
      region = transport.allocate(LONGEST_BYTES >> size);
    } else {
      idleBytes -= LONGEST_BYTES >> size;
    }
    lentBytes += LONGEST_BYTES >> size;
    return region;
  }

  /// Lends a window for a whole tensor. Returns null if it is too long, if too much is lent
  /// already, or without memory for it.
  public @Nullable MemoryRegion tryLease(long bytes) {
    if (bytes > LONGEST_BYTES || lentBytes + (LONGEST_BYTES >> sizeOf(bytes)) > keepBytes) {
      return null;
    }
    try {
      return lease(bytes);
    } catch (TransportException.Registration noMemory) {
      LOG.debug("no window of {} bytes for a bounce buffer", bytes, noMemory);
      return null;
    }
  }

  public void giveBack(MemoryRegion region) {
    returned(region);
    int size = sizeOf(region.segment().byteSize());
    for (int shorter = size + 1; shorter < SIZES && !hasRoom(size); shorter++) {
      closeIdle(shorter, size);
    }
    if (!hasRoom(size)) {
      region.close();
      return;
    }
    ArrayDeque<MemoryRegion> same = idle[size];
    if (same == null) {
      same = new ArrayDeque<>();
      idle[size] = same;
    }
    same.addLast(region);
    idleBytes += LONGEST_BYTES >> size;
  }

  private boolean hasRoom(int size) {
    return idleBytes + (LONGEST_BYTES >> size) <= keepBytes;
  }

  /// Closes idle windows to make room for a longer one, which takes longer to allocate.
  private void closeIdle(int size, int longer) {
    ArrayDeque<MemoryRegion> same = idle[size];
    while (same != null && !same.isEmpty() && !hasRoom(longer)) {
      same.removeFirst().close();
      idleBytes -= LONGEST_BYTES >> size;
    }
  }

  /// Closes a window to which peers may still write, so that it is not used again.
  public void forget(MemoryRegion region) {
    returned(region);
    region.close();
  }

  private void returned(MemoryRegion region) {
    lentBytes -= region.segment().byteSize();
  }

  /// Returns the number of times that the longest window is halved.
  private int sizeOf(long bytes) {
    long wanted = Math.max(bytes, LEAST_BYTES);
    int size = 0;
    while (size + 1 < SIZES && LONGEST_BYTES >> (size + 1) >= wanted) {
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
