// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.KvTable;
import io.weft.kv.key.KeyList;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The rows of a table as kernels use them: what was fetched ahead, and which pushes are under way.
/// Any thread.
final class EmbeddingRows {

  /// Lists of ids that may be fetched ahead.
  static final int MOST_AHEAD = 8;

  private final Weft weft;
  private final KvTable table;
  private final int mostPushes;
  private final IdentityHashMap<KeyList, Ahead> ahead = new IdentityHashMap<>();
  private final Deque<KeyList> order = new ArrayDeque<>();
  private final Deque<Handle<Void>> pushes = new ArrayDeque<>();
  private final AtomicLong pushed = new AtomicLong();
  private final AtomicLong pulled = new AtomicLong();
  private final AtomicLong used = new AtomicLong();
  private volatile @Nullable CommException failure;

  /// Rows on their way, or here.
  ///
  /// @param handle done when they are here
  /// @param memory of them; whoever takes it closes it when the handle is done
  record Ahead(Handle<Void> handle, TensorLease memory) {}

  /// @param mostPushes that may be under way while the next step runs
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

  /// Throws what an earlier push has failed with, whose step is over.
  void requireSound() {
    CommException wrong = failure;
    if (wrong != null) {
      throw wrong;
    }
  }

  Handle<Void> pull(KeyList keys, MemorySegment into) throws InterruptedException {
    pulled.incrementAndGet();
    return table.pull(keys, into);
  }

  /// Asks for rows that a later lookup of the same ids takes. Of too many lists the oldest is given
  /// up.
  void prefetch(long[] ids) throws InterruptedException {
    KeyList keys = table.keys(ids);
    synchronized (ahead) {
      if (ids.length == 0 || ahead.containsKey(keys)) {
        return;
      }
      if (order.size() == MOST_AHEAD) {
        giveUp(order.removeFirst());
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
    synchronized (ahead) {
      Ahead twice = ahead.put(keys, new Ahead(handle, memory));
      if (twice == null) {
        order.addLast(keys);
      } else {
        release(twice);
      }
    }
  }

  /// What was fetched ahead for these ids; null = nothing.
  @Nullable Ahead take(KeyList keys) {
    synchronized (ahead) {
      Ahead found = ahead.remove(keys);
      if (found != null) {
        var unused = order.remove(keys);
        used.incrementAndGet();
      }
      return found;
    }
  }

  private void giveUp(KeyList keys) {
    Ahead unused = ahead.remove(keys);
    if (unused != null) {
      release(unused);
    }
  }

  private static void release(Ahead unused) {
    unused.handle().whenDone((nothing, cause) -> unused.memory().close());
  }

  /// @param values a row for each id; borrowed until the handle is done
  Handle<Void> push(KeyList keys, MemorySegment values) throws InterruptedException {
    pushed.incrementAndGet();
    return table.push(keys, values);
  }

  /// A push is under way; whether its step may end before it does.
  boolean begunPush(Handle<Void> push) {
    synchronized (pushes) {
      pushes.removeIf(Handle::isDone);
      pushes.addLast(push);
      return pushes.size() <= mostPushes;
    }
  }

  /// A push is over.
  void endedPush(@Nullable CommException cause) {
    if (cause != null && failure == null) {
      failure = cause;
    }
  }

  /// Waits until all pushes are over. Throws what one has failed with.
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

  /// Pushes so far.
  long pushed() {
    return pushed.get();
  }

  /// Pulls so far, those ahead included.
  long pulled() {
    return pulled.get();
  }

  /// Lookups that found their rows fetched ahead.
  long used() {
    return used.get();
  }

  /// Gives up what was fetched ahead.
  void close() {
    synchronized (ahead) {
      order.forEach(this::giveUp);
      order.clear();
    }
  }

  @Override
  public String toString() {
    return "table '" + table.spec().name() + "' on rank " + weft.rank();
  }
}
