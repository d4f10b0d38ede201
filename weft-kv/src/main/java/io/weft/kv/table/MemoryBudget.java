// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/// The memory limit of tables and tensor parts together. They reserve memory before they allocate
/// it, so that the limit always holds. Any thread.
public final class MemoryBudget {

  private final long bytes;
  private final AtomicLong used = new AtomicLong();

  /// @param bytes the limit; at least 1
  public MemoryBudget(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("a memory budget of " + bytes + " bytes holds nothing");
    }
    this.bytes = bytes;
  }

  /// Returns the limit.
  public long bytes() {
    return bytes;
  }

  /// Returns the bytes that are reserved.
  public long usedBytes() {
    return used.get();
  }

  /// Reserves `more` bytes for `owner`, or throws `MemoryBudgetException` and reserves nothing.
  ///
  /// @param owner the name for the message, such as "table 'users'"
  public void reserve(String owner, long more) {
    Objects.requireNonNull(owner, "owner");
    long before = used.get();
    while (true) {
      if (more > bytes - before) {
        throw new MemoryBudgetException(
            "%s needs %d bytes more, but %d of the %d bytes that tables may take are taken; raise the memory budget (kv-memory), evict rows by a Retention, or use more servers: a checkpoint to start from can be made as it is"
                .formatted(owner, more, before, bytes));
      }
      long seen = used.compareAndExchange(before, before + more);
      if (seen == before) {
        return;
      }
      before = seen;
    }
  }

  /// Releases reserved bytes.
  public void release(long less) {
    used.addAndGet(-less);
  }
}
