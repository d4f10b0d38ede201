// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.comm.Handle;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.key.KeyList;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.TableRequests;
import io.weft.kv.worker.WorkerLinks;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;

/// A worker's view of a table of rows. Keys may come in any order and may repeat: pushed rows of
/// the same key are summed first, and a pulled row is written at each position of its key. Values
/// are 32-bit floats, row after row in the order of the keys. Their memory is borrowed until the
/// handle is done. Values in native memory are not copied if the keys of each shard are adjacent in
/// the list and ascend; an ascending list with range slicing is such a list. All other values are
/// copied, and so are values that are sent together with their keys, and those of short answers.
/// Any thread.
///
/// A push checks its arguments before anything is sent, and throws for a wrong length and, with
/// `Checks.FINITE`, for a value or a sum of values of one key that is not finite. A handle fails
/// with `CommException.Mismatch` and the reason if a server refuses, and with
/// `CommException.PeerLost` if a server is lost. After the deadline it fails with
/// `CommException.TimedOut`, which says what the server waits for. The message of a failed push
/// contains the number of shards that applied it. In a synchronous table, the worker may repeat a
/// push that no shard has accepted, until it begins another. If only some shards have accepted it,
/// or if that is unknown, the table ends for all workers, and their calls fail with
/// `CommException.Mismatch` and the reason.
public final class KvTable extends KvObject {

  private final TableRequests requests;

  KvTable(WorkerLinks links, TableSpec spec) {
    this(new TableRequests(links, spec), spec);
  }

  private KvTable(TableRequests requests, TableSpec spec) {
    super(spec, requests.clock());
    this.requests = requests;
  }

  /// Returns a list of these keys. The keys are copied and cut by shard once for all pushes and
  /// pulls that use the list.
  public KeyList keys(long... keys) {
    return requests.list(keys);
  }

  /// Pushes a row for each key. In a synchronous table each push begins the worker's next clock.
  /// All workers must push equally often, and the servers apply the pushes of all workers for one
  /// clock together.
  public Handle<Void> push(KeyList keys, MemorySegment values) throws InterruptedException {
    checkValues(keys, values, Values.FLOAT32);
    return requests.send(KvOp.PUSH, keys, values, null);
  }

  /// Pushes rows of a FLOAT32 or FLOAT16 view, whose shape is ignored. FLOAT16 is sent as 2 bytes
  /// per element and applied as FLOAT32. FLOAT16 rows of the same key are summed with rounding to
  /// nearest even after each addition.
  public Handle<Void> push(KeyList keys, TensorView values) throws InterruptedException {
    Values format = format(values);
    checkValues(keys, values.data(), format);
    return requests.send(KvOp.PUSH, format, keys, values.data(), null);
  }

  /// Pulls rows into a FLOAT32 view, or into a FLOAT16 view, rounded to nearest even.
  public Handle<Void> pull(KeyList keys, TensorView into) throws InterruptedException {
    Values format = format(into);
    check(BorrowedMemory.PLACE, keys, into.data(), format);
    return requests.send(KvOp.PULL, format, keys, MemorySegment.NULL, into.data());
  }

  /// Pushes the rows of an array.
  public Handle<Void> push(long[] keys, float[] values) throws InterruptedException {
    return push(keys(keys), MemorySegment.ofArray(values));
  }

  /// Pulls the row of each key. In a synchronous table the pull sees all pushes up to this worker's
  /// clock. A key that no worker has pushed has its initial values.
  public Handle<Void> pull(KeyList keys, MemorySegment into) throws InterruptedException {
    check(BorrowedMemory.PLACE, keys, into);
    return requests.send(KvOp.PULL, keys, MemorySegment.NULL, into);
  }

  /// Pulls the row of each key for this worker's next clock during its current clock. The rows may
  /// lack the pushes that a pull after the next `clock()` may lack, and also this worker's own
  /// pushes of the current clock. Throws `IllegalStateException` for a synchronous table, because
  /// its rows at the next clock depend on future pushes.
  public Handle<Void> prefetch(KeyList keys, MemorySegment into) throws InterruptedException {
    check(BorrowedMemory.PLACE, keys, into);
    if (spec().consistency().isSynchronous()) {
      throw new IllegalStateException(
          "table '"
              + spec().name()
              + "' is synchronous: its rows at the next clock depend on pushes that have not yet"
              + " arrived; pull after the push, or register it with Consistency.bounded or"
              + " asynchronous");
    }
    return requests.prefetch(keys, into);
  }

  /// Pulls rows into an array.
  public Handle<Void> pull(long[] keys, float[] into) throws InterruptedException {
    return pull(keys(keys), MemorySegment.ofArray(into));
  }

  /// Pushes rows and pulls the rows that result.
  public Handle<Void> pushPull(KeyList keys, MemorySegment values, MemorySegment into)
      throws InterruptedException {
    check(BorrowedMemory.PLACE, keys, into);
    checkValues(keys, values, Values.FLOAT32);
    return requests.send(KvOp.PUSH_PULL, keys, values, into);
  }

  /// Pushes and pulls rows of arrays.
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
    check(BorrowedMemory.VALUES, keys, values, format);
    if (spec().checks() == TableSpec.Checks.FINITE) {
      requests.checkFinite(keys, values, format);
    }
  }

  private void check(BorrowedMemory what, KeyList keys, MemorySegment memory) {
    check(what, keys, memory, Values.FLOAT32);
  }

  private void check(BorrowedMemory what, KeyList keys, MemorySegment memory, Values format) {
    if (keys.table().id() != spec().id()) {
      throw new IllegalArgumentException(
          "table '%s': a list of keys of table '%s', with other shards; make one by keys() of this table"
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
