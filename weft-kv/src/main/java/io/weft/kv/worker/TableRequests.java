// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.kv.frame.Finite;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.key.KeyList;
import io.weft.kv.key.KeySlice;
import io.weft.kv.rule.UpdateRule;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.ShardRequest.Memory;
import io.weft.kv.worker.ShardRequest.What;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A worker's requests to one table of rows, cut by shard, and its lists of keys. Any thread.
public final class TableRequests {

  /// The number of lists that are kept, so that repeated keys are cut once.
  private static final int MOST_LISTS = 64;

  private final WorkerLinks links;
  private final TableSpec spec;
  private final TableClock clock;
  private final KeyList.Slices cut;

  /// The most recently used lists, by a hash of a few of their keys. Guarded by itself.
  private final Map<Long, KeyList> lists =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, KeyList> eldest) {
          return size() > MOST_LISTS;
        }
      };

  /// Creates the requests to this table.
  public TableRequests(WorkerLinks links, TableSpec spec) {
    this.links = links;
    this.spec = spec;
    this.cut = TableClock.pushesToAll(spec) ? KeyList.Slices.OF_ALL : KeyList.Slices.WITH_KEYS;
    this.clock = new TableClock(links, spec, links.shards(), shard -> shard);
  }

  /// Cuts these keys by shard, without keeping the list.
  public KeyList cut(long[] keys) {
    return KeyList.cut(keys, spec, links.shards(), cut);
  }

  /// Returns the list of these keys, which is cut by shard unless it is kept.
  public KeyList list(long[] keys) {
    long sample = sample(keys);
    synchronized (lists) {
      KeyList known = lists.get(sample);
      if (known != null && known.isOf(keys)) {
        return known;
      }
    }
    KeyList made = cut(keys);
    synchronized (lists) {
      lists.put(sample, made);
    }
    return made;
  }

  /// Returns a hash of a few keys, which distinguishes most lists. `KeyList.isOf` decides.
  private static long sample(long[] keys) {
    long hash = keys.length;
    int step = Math.max(1, keys.length / 16);
    for (int i = 0; i < keys.length; i += step) {
      hash = (hash ^ keys[i]) * 0x9e3779b97f4a7c15L;
      hash ^= hash >>> 29;
    }
    return hash;
  }

  /// Returns the requests to all shards.
  public TableClock clock() {
    return clock;
  }

  /// Throws `IllegalArgumentException` for a value, or a sum of values of one key, that is not
  /// finite.
  public void checkFinite(KeyList keys, MemorySegment values, KvHead.Values format) {
    int width = (int) spec.width();
    long at = Finite.firstOther(values, format);
    if (at >= 0) {
      throw notFinite(
          Finite.text(values, at, format), keys.key((int) (at / width)), at % width, "value");
    }
    for (KeySlice slice : keys.slices()) {
      if (slice.hasTwice()) {
        MemorySegment sums =
            MemorySegment.ofArray(new byte[Math.toIntExact(format.bytes(width) * slice.count())]);
        ShardRequest.gather(slice, values, width, format, sums);
        long sum = Finite.firstOther(sums, format);
        if (sum >= 0) {
          throw notFinite(
              Finite.text(sums, sum, format), slice.key((int) (sum / width)), sum % width, "sum");
        }
      }
    }
  }

  /// Throws `IllegalArgumentException` if a key repeats.
  public void checkDistinct(KeyList keys) {
    for (KeySlice slice : keys.slices()) {
      if (slice.hasTwice()) {
        var seen = new HashSet<Long>();
        for (int i = 0; i < keys.size(); i++) {
          if (!seen.add(keys.key(i))) {
            throw new IllegalArgumentException(
                "table '%s': key %d, at position %d, was given before; an inserted row has one value"
                    .formatted(spec.name(), keys.key(i), i));
          }
        }
      }
    }
  }

  private IllegalArgumentException notFinite(String value, long key, long column, String what) {
    return new IllegalArgumentException(
        "table '%s': %s %s of key %d, column %d, is not finite; nothing was pushed"
            .formatted(spec.name(), what, value, key, column));
  }

  /// Pushes, pulls or both.
  ///
  /// @param values a row for each key; empty if nothing is pushed
  /// @param into the destination of rows; null = none
  public KvHandle<Void> send(
      KvOp op, KeyList keys, MemorySegment values, @Nullable MemorySegment into)
      throws InterruptedException {
    return send(op, KvHead.Values.FLOAT32, keys, values, into);
  }

  /// Pushes, pulls or both, with values of this format, FLOAT32 or FLOAT16.
  public KvHandle<Void> send(
      KvOp op,
      KvHead.Values format,
      KeyList keys,
      MemorySegment values,
      @Nullable MemorySegment into)
      throws InterruptedException {
    return send(new What(op, 0, spec.id(), clock.next(op)).withValues(format), keys, values, into);
  }

  /// Sets rows to these values, or to these values and slots.
  ///
  /// @param keys distinct keys
  /// @param leastStep if the rows contain slots, the least number of the table's last update
  ///   afterwards; -1 = they do not
  public KvHandle<Void> insert(
      KeyList keys, KvHead.Values format, MemorySegment values, long leastStep)
      throws InterruptedException {
    int part = (int) Math.min(leastStep + 1, Integer.MAX_VALUE);
    return send(
        new What(KvOp.INSERT, 0, spec.id(), clock.edit()).withPart(part).withValues(format),
        keys,
        values,
        null);
  }

  /// Removes the rows of these keys.
  public KvHandle<Void> remove(KeyList keys) throws InterruptedException {
    return send(new What(KvOp.REMOVE, 0, spec.id(), clock.edit()), keys, MemorySegment.NULL, null);
  }

  /// Returns the floats of a row with its slots.
  public int floats() {
    UpdateRule rule = UpdateRules.parse(spec.rule());
    return (int) spec.width() * (1 + rule.slots()) + rule.rowSlots();
  }

  /// Returns the floats of a row in a request.
  private int width(What what) {
    if (what.op() == KvOp.REMOVE) {
      return 0;
    }
    return what.op() == KvOp.INSERT && what.part() > 0 ? floats() : (int) spec.width();
  }

  /// Pulls for the next clock.
  public KvHandle<Void> prefetch(KeyList keys, MemorySegment into) throws InterruptedException {
    var what = new What(KvOp.PULL, 0, spec.id(), clock.next(KvOp.PULL) + 1);
    return send(what, keys, MemorySegment.NULL, into);
  }

  /// @param what the parameters for each shard
  private KvHandle<Void> send(
      What what, KeyList keys, MemorySegment values, @Nullable MemorySegment into)
      throws InterruptedException {
    KvOp op = what.op();
    // A step of the table that the rows bring is for all shards.
    boolean toAll = op == KvOp.PUSH || op == KvOp.PUSH_PULL || what.part() > 0;
    int width = width(what);
    List<KeySlice> slices = keys.slices();
    KvHandle<Void> handle =
        clock.handle(
            "%s of %d keys of table '%s'".formatted(op, keys.size(), spec.name()),
            clock.begin(op, keys.size(), what.values().bytes(width) * keys.size()),
            op,
            what.clock(),
            slices.size());
    try {
      for (KeySlice slice : slices) {
        if (toAll || slice.count() > 0) {
          clock.send(
              slice.shard(),
              new What(op, slice.shard(), what.table(), what.clock())
                  .withPart(what.part())
                  .withValues(what.values())
                  .withPriority(what.priority()),
              new Memory(slice, width, values, into),
              handle);
        }
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }
}
