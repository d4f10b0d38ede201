// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.weft.comm.Handle;
import io.weft.kv.KvTable;
import io.weft.kv.KvTensor;
import io.weft.kv.KvWorker;
import io.weft.kv.key.KeyList;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import io.weft.perf.kv.KvPlan.Subject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The tables of a worker's requests. Confined to one thread.
sealed interface KvTarget {

  /// Loads the table before the first request. All workers reach a barrier afterwards.
  default void load(MemorySegment values) throws InterruptedException {}

  /// Posts request number `request`.
  Handle<Void> send(int request, MemorySegment values, MemorySegment into)
      throws InterruptedException;

  /// Compares the servers' values with the sum of all workers' pushes. Returns whether they are
  /// equal.
  ///
  /// @param requests number of requests of each worker
  /// @param into memory for the values of a request
  boolean check(int requests, MemorySegment into) throws InterruptedException;

  /// Registers the plan's table.
  static KvTarget of(KvPlan plan, KvTraffic traffic, KvWorker store) throws InterruptedException {
    return switch (plan.subject()) {
      case Subject.Pairs pairs -> {
        KvTable table =
            store.register(
                TableSpec.rows("perf", pairs.width())
                    .with(Consistency.asynchronous())
                    .with(Slicer.ranges(0, traffic.lastKey())));
        yield new Pairs(plan, traffic, table, table.keys(traffic.keys(0)));
      }
      case Subject.Tensor tensor ->
          new Dense(
              plan,
              traffic,
              store.registerTensor(
                  TableSpec.tensor("perf", tensor.elements()).with(Consistency.asynchronous())));
      case Subject.Rows rows ->
          new Sparse(
              plan,
              rows,
              traffic,
              store,
              store.register(
                  TableSpec.rows("perf", rows.width())
                      .with(Consistency.asynchronous())
                      .with(Retention.ALL.spilledBeyond(rows.memoryBytes()))));
    };
  }

  /// Returns whether `got` has the values that `requests` pushes of each worker produce.
  private static boolean areRight(KvPlan plan, KvTraffic traffic, int requests, MemorySegment got) {
    long pushes = (long) plan.workers() * requests;
    for (long i = 0; i < got.byteSize() / 4; i++) {
      if (got.getAtIndex(JAVA_FLOAT, i) != traffic.expected(i, pushes)) {
        return false;
      }
    }
    return true;
  }

  /// A table whose requests have equal lists of keys.
  record Pairs(KvPlan plan, KvTraffic traffic, KvTable table, KeyList keys) implements KvTarget {
    /// Pushes zeros, so that each key has a row.
    @Override
    public void load(MemorySegment values) throws InterruptedException {
      try (Arena arena = Arena.ofShared()) {
        var unused = table.push(keys, arena.allocate(values.byteSize(), 64)).await();
      }
    }

    @Override
    public Handle<Void> send(int request, MemorySegment values, MemorySegment into)
        throws InterruptedException {
      return switch (plan.op()) {
        case PUSH, UPDATE -> table.push(keys, values);
        case PULL, LOOKUP -> table.pull(keys, into);
        case PUSHPULL -> table.pushPull(keys, values, into);
      };
    }

    @Override
    public boolean check(int requests, MemorySegment into) throws InterruptedException {
      var unused = table.pull(keys, into).await();
      return areRight(plan, traffic, requests, into);
    }
  }

  /// A dense tensor.
  record Dense(KvPlan plan, KvTraffic traffic, KvTensor tensor) implements KvTarget {
    @Override
    public Handle<Void> send(int request, MemorySegment values, MemorySegment into)
        throws InterruptedException {
      return switch (plan.op()) {
        case PUSH, UPDATE -> tensor.push(values);
        case PULL, LOOKUP -> tensor.pull(into);
        case PUSHPULL -> tensor.pushPull(values, into);
      };
    }

    @Override
    public boolean check(int requests, MemorySegment into) throws InterruptedException {
      var unused = tensor.pull(into).await();
      return areRight(plan, traffic, requests, into);
    }
  }

  /// A sparse table.
  record Sparse(KvPlan plan, Subject.Rows rows, KvTraffic traffic, KvWorker store, KvTable table)
      implements KvTarget {
    @Override
    public void load(MemorySegment values) throws InterruptedException {
      if (store.workers().rank() != 0) {
        return;
      }
      int chunk = rows.keys();
      for (int first = 0; first < rows.rows(); first += chunk) {
        long[] keys = keys(first, Math.min(chunk, rows.rows() - first));
        var unused =
            table
                .push(table.keys(keys), values.asSlice(0, 4L * keys.length * rows.width()))
                .await();
      }
    }

    private static long[] keys(int first, int count) {
      long[] keys = new long[count];
      for (int i = 0; i < count; i++) {
        keys[i] = KvTraffic.key(first + i);
      }
      return keys;
    }

    @Override
    public Handle<Void> send(int request, MemorySegment values, MemorySegment into)
        throws InterruptedException {
      KeyList keys = table.keys(traffic.keys(request));
      return plan.op().adds() ? table.push(keys, values) : table.pull(keys, into);
    }

    @Override
    public boolean check(int requests, MemorySegment into) throws InterruptedException {
      int[] pushes = KvTraffic.pushesOfRows(plan, requests);
      int chunk = rows.keys();
      for (int first = 0; first < rows.rows(); first += chunk) {
        long[] keys = keys(first, Math.min(chunk, rows.rows() - first));
        MemorySegment got = into.asSlice(0, 4L * keys.length * rows.width());
        var unused = table.pull(table.keys(keys), got).await();
        for (long i = 0; i < got.byteSize() / 4; i++) {
          if (got.getAtIndex(JAVA_FLOAT, i) != pushes[first + (int) (i / rows.width())]) {
            return false;
          }
        }
      }
      return true;
    }
  }
}
