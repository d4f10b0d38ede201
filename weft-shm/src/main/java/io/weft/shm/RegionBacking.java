// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.region.RegionOwner;
import org.jspecify.annotations.Nullable;

/// The memory of one region: its own pages of an extent, a part of such pages, or memory that peers
/// cannot map. Thread-safe.
final class RegionBacking implements RegionOwner {

  private static final int SPINS = 2_000;

  private final ControlFile control;
  private final AccessTracker accessTracker;
  private final @Nullable ExtentPool pool;
  private final @Nullable Extent extent;
  private final int page;
  private final int pages;
  // Keeps registered memory alive.
  private @Nullable Object owner;
  private int key;

  /// The pages of a region.
  ///
  /// @param extent that contains the memory; null = none
  /// @param first number of the first page in the extent
  /// @param count of pages; 0 for foreign memory
  record Pages(@Nullable Extent extent, int first, int count) {}

  /// Creates a backing of a pool's pages, or, without a pool, of foreign memory.
  RegionBacking(
      ControlFile control, AccessTracker accessTracker, @Nullable ExtentPool pool, Pages pages) {
    this.control = control;
    this.accessTracker = accessTracker;
    this.pool = pool;
    this.extent = pages.extent();
    this.page = pages.first();
    this.pages = pages.count();
  }

  void keep(Object some) {
    owner = some;
  }

  /// Publishes the region to peers under its key; `offset` is relative to the extent.
  void show(int itsKey, long offset, long bytes) {
    key = itsKey;
    if (extent == null) {
      control.showPrivate(key);
    } else {
      control.show(key, extent, offset, bytes);
    }
  }

  @Override
  public void withdrawn() {
    control.hide(key);
    // A visit is short, unless its process is stopped.
    for (int i = 0; i < SPINS && accessTracker.areInside(key); i++) {
      Thread.onSpinWait();
    }
    owner = null;
    if (pool != null) {
      pool.giveBack(this);
    }
  }

  @Override
  public boolean isMappable() {
    return extent != null;
  }

  @Override
  public boolean isVisited() {
    return accessTracker.areInside(key);
  }

  @Nullable Extent extent() {
    return extent;
  }

  /// Returns the object that keeps registered memory alive.
  @Nullable Object owner() {
    return owner;
  }

  int page() {
    return page;
  }

  int pages() {
    return pages;
  }
}
