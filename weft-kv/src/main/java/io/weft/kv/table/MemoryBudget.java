// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/// How much memory tables and tensor parts may take together. They ask before they allocate, so
/// that the bound holds whatever is pushed. Any thread.
public final class MemoryBudget {

  private final long bytes;
  private final AtomicLong used = new AtomicLong();

  /// @param bytes the bound; at least 1
  public MemoryBudget(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("a memory budget of " + bytes + " bytes holds nothing");
    }
    this.bytes = bytes;
  }

  /// The bound.
  public long bytes() {
    return bytes;
  }

  /// What is taken now.
  public long usedBytes() {
    return used.get();
  }

  /// Takes `more` bytes for `owner`, or throws `MemoryBudgetException` and takes nothing.
  ///
  /// @param owner of the message, as "table 'users'"
  public void reserve(String owner, long more) {
    Objects.requireNonNull(owner, "owner");
    long before = used.get();
    while (true) {
      if (more > bytes - before) {
        throw new MemoryBudgetException(
            "%s needs %d bytes more, but %d of the %d bytes that tables may take are taken; raise the memory budget (kv-memory), let rows go by a Retention, or use more servers: a checkpoint to start from can be made as it is"
                .formatted(owner, more, before, bytes));
      }
      long seen = used.compareAndExchange(before, before + more);
      if (seen == before) {
        return;
      }
      before = seen;
    }
  }

  /// Gives back what was taken.
  public void release(long less) {
    used.addAndGet(-less);
  }
}
