// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.comm.Handle;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.key.KeyList;
import io.weft.kv.key.KeyListCache;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.TableRequests;
import io.weft.kv.worker.WorkerLinks;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;

/// A table of rows as a worker sees it. Keys come in any order, also several times: what is pushed
/// for one key is added up first, what is pulled stands at each place. Values are 32-bit floats,
/// row after row in the order of the keys; they are borrowed until the handle is done. Copied only
/// where the memory is in the heap, or where the order of the keys is not that of the shards:
/// ascending keys and ranges need no copy. Any thread.
///
/// What is wrong with a push in itself is thrown by the call, before anything is sent: its length,
/// and with `Checks.FINITE` a value that is not finite, also as the sum of those for one key. A
/// handle fails with `CommException.Mismatch` where a server refuses, with the reason; with
/// `CommException.TimedOut` after the deadline, which tells what the server waits for; with
/// `CommException.PeerLost` where a server is gone. The message of a failed push tells on how many
/// shards it was applied. In a synchronous table a push is whole or nothing: where no shard has
/// taken it, it may be pushed again; where some have, the table ends for all workers, whose calls
/// fail with `CommException.Mismatch` and the reason.
public final class KvTable extends KvStored {

  private static final int LISTS = 64;

  private final TableRequests requests;
  private final KeyListCache lists = new KeyListCache(LISTS);

  KvTable(WorkerLinks links, TableSpec spec) {
    this(new TableRequests(links, spec), spec);
  }

  private KvTable(TableRequests requests, TableSpec spec) {
    super(spec, requests.clock());
    this.requests = requests;
  }

  /// These keys, copied and cut by shard once for all pushes and pulls that use them.
  public KeyList keys(long... keys) {
    return lists.of(keys, requests::cut);
  }

  /// Pushes a row for each key. In a synchronous table this is the worker's next clock: every
  /// worker pushes as often, and what all have pushed is applied at once.
  public Handle<Void> push(KeyList keys, MemorySegment values) throws InterruptedException {
    checkValues(keys, values, Values.FLOAT32);
    return requests.send(KvOp.PUSH, keys, values, null);
  }

  /// Pushes rows of a view, FLOAT32 or FLOAT16, whose shape is not looked at. FLOAT16 travels in 2
  /// bytes an element and is applied as FLOAT32; what it has for one key several times is rounded
  /// to nearest even after each addition.
  public Handle<Void> push(KeyList keys, TensorView values) throws InterruptedException {
    Values format = format(values);
    checkValues(keys, values.data(), format);
    return requests.send(KvOp.PUSH, format, keys, values.data(), null);
  }

  /// Pulls rows into a view, FLOAT32, or FLOAT16 rounded to nearest even.
  public Handle<Void> pull(KeyList keys, TensorView into) throws InterruptedException {
    Values format = format(into);
    check(LentMemory.PLACE, keys, into.data(), format);
    return requests.send(KvOp.PULL, format, keys, MemorySegment.NULL, into.data());
  }

  /// The same of an array.
  public Handle<Void> push(long[] keys, float[] values) throws InterruptedException {
    return push(keys(keys), MemorySegment.ofArray(values));
  }

  /// Pulls the row of each key. In a synchronous table it sees all pushes up to this worker's
  /// clock; a key that nobody has pushed has its initial values.
  public Handle<Void> pull(KeyList keys, MemorySegment into) throws InterruptedException {
    check(LentMemory.PLACE, keys, into);
    return requests.send(KvOp.PULL, keys, MemorySegment.NULL, into);
  }

  /// Pulls the row of each key for the worker's next clock, while it is still in this one: what a
  /// pull after the next `clock()` may lack, this lacks too, and the worker's own pushes of this
  /// clock beside. Throws `IllegalStateException` for a synchronous table, whose next clock sees
  /// pushes that are still to come.
  public Handle<Void> prefetch(KeyList keys, MemorySegment into) throws InterruptedException {
    check(LentMemory.PLACE, keys, into);
    if (spec().consistency().isSynchronous()) {
      throw new IllegalStateException(
          "table '"
              + spec().name()
              + "' is synchronous: its rows at the next clock depend on pushes that are still to"
              + " come; pull after the push, or register it with Consistency.bounded or"
              + " asynchronous");
    }
    return requests.prefetch(keys, into);
  }

  /// The same into an array.
  public Handle<Void> pull(long[] keys, float[] into) throws InterruptedException {
    return pull(keys(keys), MemorySegment.ofArray(into));
  }

  /// Pushes, and pulls what there is then.
  public Handle<Void> pushPull(KeyList keys, MemorySegment values, MemorySegment into)
      throws InterruptedException {
    check(LentMemory.PLACE, keys, into);
    checkValues(keys, values, Values.FLOAT32);
    return requests.send(KvOp.PUSH_PULL, keys, values, into);
  }

  /// The same with arrays.
  public Handle<Void> pushPull(long[] keys, float[] values, float[] into)
      throws InterruptedException {
    return pushPull(keys(keys), MemorySegment.ofArray(values), MemorySegment.ofArray(into));
  }

  private Values format(TensorView view) {
    if (view.dtype() == DType.FLOAT32) {
      return Values.FLOAT32;
    }
    if (view.dtype() == DType.FLOAT16) {
      return Values.FLOAT16;
    }
    throw new IllegalArgumentException(
        "table '%s': %s; servers take FLOAT32 and FLOAT16"
            .formatted(spec().name(), view.signature()));
  }

  private void checkValues(KeyList keys, MemorySegment values, Values format) {
    check(LentMemory.VALUES, keys, values, format);
    if (spec().checks() == TableSpec.Checks.FINITE) {
      requests.checkFinite(keys, values, format);
    }
  }

  private void check(LentMemory what, KeyList keys, MemorySegment memory) {
    check(what, keys, memory, Values.FLOAT32);
  }

  private void check(LentMemory what, KeyList keys, MemorySegment memory, Values format) {
    if (keys.table().id() != spec().id()) {
      throw new IllegalArgumentException(
          "table '%s': a list of keys of table '%s', whose shards are others; make one by keys() of this table"
              .formatted(spec().name(), keys.table().name()));
    }
    long expected = format.bytes(spec().width()) * keys.size();
    if (memory.byteSize() != expected) {
      throw new IllegalArgumentException(
          "table '%s': %s of %d bytes for %d keys of %d %s, expected %d"
              .formatted(
                  spec().name(),
                  what,
                  memory.byteSize(),
                  keys.size(),
                  spec().width(),
                  format == Values.FLOAT32 ? "floats" : format,
                  expected));
    }
    what.check(spec(), memory);
  }
}
