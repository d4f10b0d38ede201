// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.TransportException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The memory of this process that peers can map: an extent for each long region, and extents of 4
/// MiB that short ones share. If a region closes during a peer's access, its memory is quarantined
/// until the peer has left. Thread-safe.
final class ExtentPool {

  private static final long SHARED_BYTES = 4L << 20;
  private static final long LONG_BYTES = 1L << 20;
  private static final long CHECKED_BYTES = 64L << 20;

  private final String prefix;
  private final ControlFile control;
  private final AccessTracker accessTracker;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Extent> shared = new ArrayList<>();
  private final List<RegionBacking> quarantine = new ArrayList<>();
  private final ArrayDeque<Integer> gone = new ArrayDeque<>();
  // Written under the lock.
  private volatile Extent[] all = {};
  private volatile boolean isDue;
  private int next;
  private boolean closed;

  ExtentPool(String prefix, ControlFile control, AccessTracker accessTracker) {
    this.prefix = prefix;
    this.control = control;
    this.accessTracker = accessTracker;
  }

  /// Allocates zeroed pages for one region. Throws `TransportException.Registration`.
  RegionBacking allocate(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a region of " + bytes + " bytes");
    }
    checkAvailable(bytes);
    lock.lock();
    try {
      sweepQuarantine();
      if (bytes >= LONG_BYTES) {
        long rounded = (bytes + ControlLayout.PAGE - 1) & -ControlLayout.PAGE;
        int pages = Math.toIntExact(rounded / ControlLayout.PAGE);
        Extent own = add(rounded);
        return new RegionBacking(
            control, accessTracker, this, new RegionBacking.Pages(own, own.take(pages), pages));
      }
      int pages = Math.max(1, (int) ((bytes + ControlLayout.PAGE - 1) / ControlLayout.PAGE));
      for (Extent extent : shared) {
        int page = extent.take(pages);
        if (page >= 0) {
          memory(extent, page, (long) pages * ControlLayout.PAGE).fill((byte) 0);
          return new RegionBacking(
              control, accessTracker, this, new RegionBacking.Pages(extent, page, pages));
        }
      }
      Extent more = add(SHARED_BYTES);
      shared.add(more);
      return new RegionBacking(
          control, accessTracker, this, new RegionBacking.Pages(more, more.take(pages), pages));
    } catch (IOException e) {
      throw failed(bytes, String.valueOf(e.getMessage()), e);
    } finally {
      lock.unlock();
    }
  }

  private Extent add(long bytes) throws IOException {
    Extent extent = new Extent(prefix, next++, bytes);
    Extent[] now = all;
    Extent[] more = new Extent[now.length + 1];
    System.arraycopy(now, 0, more, 0, now.length);
    more[now.length] = extent;
    all = more;
    return extent;
  }

  /// Rejects large requests that exceed available memory, because the kernel would kill processes
  /// instead.
  private static void checkAvailable(long bytes) {
    if (bytes < CHECKED_BYTES) {
      return;
    }
    try {
      for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
        if (line.startsWith("MemAvailable:")) {
          long available = Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
          if (bytes > available) {
            throw failed(bytes, available + " bytes of memory are available", null);
          }
        }
      }
    } catch (IOException e) {
      // Without this information, only the kernel decides.
      return;
    }
  }

  private static TransportException failed(long bytes, String why, @Nullable Throwable cause) {
    return new TransportException.Registration(
        "allocate "
            + bytes
            + " bytes of shared memory failed: "
            + why
            + "; the limits are the memory of this machine or container, and 'ulimit -n' for"
            + " regions of 1 MiB and more: use smaller tensors or fewer ranks on this host",
        cause);
  }

  static MemorySegment memory(Extent extent, int page, long bytes) {
    return extent.memory().asSlice((long) page * ControlLayout.PAGE, bytes);
  }

  /// Returns the extent that contains all of this memory, or null.
  @Nullable Extent holding(MemorySegment some) {
    for (Extent extent : all) {
      if (extent.offsetOf(some) >= 0) {
        return extent;
      }
    }
    return null;
  }

  /// Frees the memory of a closed region, or quarantines it.
  void giveBack(RegionBacking backing) {
    lock.lock();
    try {
      if (backing.isVisited()) {
        quarantine.add(backing);
        isDue = true;
      } else {
        free(backing);
      }
    } finally {
      lock.unlock();
    }
  }

  private void free(RegionBacking backing) {
    Extent extent = backing.extent();
    if (extent == null) {
      return;
    }
    extent.give(backing.page(), backing.pages());
    boolean kept = !closed && shared.size() == 1 && shared.contains(extent);
    if (extent.isIdle() && !kept) {
      shared.remove(extent);
      Extent[] now = all;
      Extent[] fewer = new Extent[now.length - 1];
      int count = 0;
      for (Extent one : now) {
        if (one.number() != extent.number()) {
          fewer[count++] = one;
        }
      }
      all = fewer;
      gone.add(extent.number());
      isDue = true;
      extent.close();
    }
  }

  private void sweepQuarantine() {
    for (Iterator<RegionBacking> i = quarantine.iterator(); i.hasNext(); ) {
      RegionBacking backing = i.next();
      if (!backing.isVisited()) {
        i.remove();
        free(backing);
      }
    }
  }

  /// Returns whether `sweep` may find work.
  ///
  /// Hot path.
  boolean isDue() {
    return isDue;
  }

  /// Frees quarantined memory that peers have left. Then `nextGone` returns extents to report to
  /// peers.
  void sweep() {
    lock.lock();
    try {
      sweepQuarantine();
      isDue = !quarantine.isEmpty() || !gone.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /// Returns the number of a freed extent, each only once; -1 if none is left.
  int nextGone() {
    lock.lock();
    try {
      Integer number = gone.poll();
      return number == null ? -1 : number;
    } finally {
      lock.unlock();
    }
  }

  /// Returns the count of closed regions that peers are still accessing.
  int quarantined() {
    lock.lock();
    try {
      return quarantine.size();
    } finally {
      lock.unlock();
    }
  }

  /// Closes the pool; regions that are not closed yet keep their memory.
  void close() {
    lock.lock();
    try {
      closed = true;
      sweepQuarantine();
      for (Extent extent : List.copyOf(shared)) {
        if (extent.isIdle()) {
          shared.remove(extent);
          extent.close();
        }
      }
    } finally {
      lock.unlock();
    }
  }
}
