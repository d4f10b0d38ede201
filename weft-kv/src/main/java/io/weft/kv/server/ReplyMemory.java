// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.tensor.TensorLease;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// The memory of pending answers. Each worker has a share, so that a worker that does not receive
/// its answers delays only itself. Any thread.
public final class ReplyMemory {

  private final LongFunction<TensorLease> memory;
  private final long shareBytes;
  private final AtomicLongArray out;

  /// @param bytes of all workers together
  public ReplyMemory(LongFunction<TensorLease> memory, long bytes, int workers) {
    this.memory = memory;
    this.shareBytes = Math.max(1, bytes / workers);
    this.out = new AtomicLongArray(workers);
  }

  /// Returns `bytes` bytes for a worker, or null while its other answers use its share. An answer
  /// that exceeds the share is sent alone.
  @Nullable TensorLease tryLease(int worker, long bytes) {
    long before = out.getAndAdd(worker, bytes);
    if (before > 0 && before + bytes > shareBytes) {
      out.addAndGet(worker, -bytes);
      return null;
    }
    try {
      return memory.apply(bytes);
    } catch (RuntimeException | Error refused) {
      out.addAndGet(worker, -bytes);
      throw refused;
    }
  }

  /// Releases the memory of a sent answer.
  void release(int worker, long bytes, TensorLease lease) {
    lease.close();
    out.addAndGet(worker, -bytes);
  }
}
