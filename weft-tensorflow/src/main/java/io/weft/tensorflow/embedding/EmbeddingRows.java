// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.KvTable;
import io.weft.kv.TablePull;
import io.weft.kv.key.KeyList;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/// The rows of a table for kernels: the prefetched rows and the pushes under way. Any thread.
final class EmbeddingRows {

  /// The maximum number of prefetched id lists.
  static final int MOST_AHEAD = 8;

  private final Weft weft;
  private final KvTable table;
  private final int mostPushes;
  private final IdentityHashMap<KeyList, Prefetched> prefetched = new IdentityHashMap<>();
  private final Deque<KeyList> order = new ArrayDeque<>();
  private final Deque<Handle<Void>> pushes = new ArrayDeque<>();
  private final AtomicLong pushed = new AtomicLong();
  private final AtomicLong pulled = new AtomicLong();
  private final AtomicLong used = new AtomicLong();
  private volatile @Nullable CommException failure;

  /// Prefetched rows, which may still be in flight.
  ///
  /// @param handle completes when the rows have arrived
  /// @param memory the rows' memory; its taker closes it when the handle is done
  record Prefetched(Handle<Void> handle, TensorLease memory) {}

  /// @param mostPushes the maximum number of pushes under way during the next step
  EmbeddingRows(Weft weft, KvTable table, int mostPushes) {
    this.weft = weft;
    this.table = table;
    this.mostPushes = mostPushes;
  }

  KvTable table() {
    return table;
  }

  long width() {
    return table.spec().width();
  }

  KeyList keys(long[] ids) {
    return table.keys(ids);
  }

  /// Throws the failure of an earlier push whose step has ended.
  void requireSound() {
    CommException wrong = failure;
    if (wrong != null) {
      throw wrong;
    }
  }

  /// Returns the shape of the rows of ids of a shape.
  Shape shape(Shape ids) {
    return Shape.of(
        LongStream.concat(ids.dims().stream().mapToLong(Long::longValue), LongStream.of(width()))
            .toArray());
  }

  /// Counts a pull that is sent together with those of other tables, and returns it.
  TablePull pullOf(KeyList keys, MemorySegment into) {
    pulled.incrementAndGet();
    return new TablePull(table, keys, into);
  }

  Handle<Void> pull(KeyList keys, MemorySegment into) throws InterruptedException {
    pulled.incrementAndGet();
    return table.pull(keys, into);
  }

  /// Requests rows for a later lookup of equal ids. If too many lists are prefetched, the oldest is
  /// discarded.
  void prefetch(long[] ids) throws InterruptedException {
    KeyList keys = table.keys(ids);
    synchronized (prefetched) {
      if (ids.length == 0 || prefetched.containsKey(keys)) {
        return;
      }
    }
    TensorLease memory = weft.allocate(DType.FLOAT32, Shape.of(ids.length, width()));
    Handle<Void> handle;
    try {
      handle = table.prefetch(keys, memory.view().data());
      pulled.incrementAndGet();
    } catch (InterruptedException | RuntimeException | Error refused) {
      memory.close();
      throw refused;
    }
    synchronized (prefetched) {
      Prefetched twice = prefetched.put(keys, new Prefetched(handle, memory));
      if (twice == null) {
        order.addLast(keys);
        if (order.size() > MOST_AHEAD) {
          giveUp(order.removeFirst());
        }
      } else {
        release(twice);
      }
    }
  }

  /// Returns the rows prefetched for these ids, or null.
  @Nullable Prefetched take(KeyList keys) {
    synchronized (prefetched) {
      Prefetched found = prefetched.remove(keys);
      if (found != null) {
        var unused = order.remove(keys);
        used.incrementAndGet();
      }
      return found;
    }
  }

  private void giveUp(KeyList keys) {
    Prefetched unused = prefetched.remove(keys);
    if (unused != null) {
      release(unused);
    }
  }

  private static void release(Prefetched unused) {
    unused.handle().whenDone((nothing, cause) -> unused.memory().close());
  }

  /// @param values a row for each id; borrowed until the handle is done
  Handle<Void> push(KeyList keys, MemorySegment values) throws InterruptedException {
    pushed.incrementAndGet();
    return table.push(keys, values);
  }

  /// Registers a push under way. Returns whether its step may end before the push does.
  boolean begunPush(Handle<Void> push) {
    synchronized (pushes) {
      pushes.removeIf(Handle::isDone);
      pushes.addLast(push);
      return pushes.size() <= mostPushes;
    }
  }

  /// Registers the end of a push.
  void endedPush(@Nullable CommException cause) {
    if (cause != null && failure == null) {
      failure = cause;
    }
  }

  /// Waits until all pushes have ended. Throws the failure of a failed push.
  void flush() throws InterruptedException {
    while (true) {
      Handle<Void> next;
      synchronized (pushes) {
        next = pushes.peekFirst();
      }
      if (next == null) {
        requireSound();
        return;
      }
      var unused = next.await();
      synchronized (pushes) {
        pushes.remove(next);
      }
    }
  }

  long pushed() {
    return pushed.get();
  }

  /// Returns the number of pulls, including prefetches.
  long pulled() {
    return pulled.get();
  }

  /// Returns the number of lookups that used prefetched rows.
  long used() {
    return used.get();
  }

  /// Discards the prefetched rows.
  void close() {
    synchronized (prefetched) {
      order.forEach(this::giveUp);
      order.clear();
    }
  }

  @Override
  public String toString() {
    return "table '" + table.spec().name() + "' on rank " + weft.rank();
  }
}
