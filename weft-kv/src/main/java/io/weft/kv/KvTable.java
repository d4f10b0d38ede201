// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.comm.Handle;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.key.KeyList;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.GroupPull;
import io.weft.kv.worker.TableRequests;
import io.weft.kv.worker.WorkerLinks;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;

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
/// `CommException.TimedOut`, which names the reason for the server's wait. The message of a failed
/// push contains the number of shards that applied it. In a synchronous table, the worker may
/// repeat a push that no shard has accepted, until it begins another. If only some shards have
/// accepted it, or if that is unknown, the table ends for all workers, and their calls fail with
/// `CommException.Mismatch` and the reason.
public final class KvTable extends KvObject {

  private static final int MOST_INSERTS = 8;

  private final WorkerLinks links;
  private final TableRequests requests;

  KvTable(WorkerLinks links, TableSpec spec) {
    this(links, new TableRequests(links, spec), spec);
  }

  private KvTable(WorkerLinks links, TableRequests requests, TableSpec spec) {
    super(spec, requests.clock());
    this.links = links;
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

  /// Pulls rows of several tables of one worker, by one request for each shard instead of one for
  /// each table and shard. The rows are those that a pull of each table would return; a shard
  /// answers when it can answer for all tables. Keys are sent every time and rows are copied, so
  /// that this is for many tables with short lists. Throws `IllegalArgumentException`, before
  /// anything is sent, for an argument that a pull would refuse.
  public static Handle<Void> pullAll(List<TablePull> pulls) throws InterruptedException {
    if (pulls.isEmpty()) {
      throw new IllegalArgumentException("a pull of no tables");
    }
    WorkerLinks links = pulls.getFirst().table().links;
    for (TablePull each : pulls) {
      KvTable table = each.table();
      if (table.links != links) {
        throw new IllegalArgumentException(
            "tables '%s' and '%s' of different workers in one pull"
                .formatted(pulls.getFirst().table().spec().name(), table.spec().name()));
      }
      table.check(BorrowedMemory.PLACE, each.keys(), each.into());
    }
    var all = new GroupPull(links);
    for (TablePull each : pulls) {
      all.add(each.table().requests.clock(), each.keys(), each.into());
    }
    return all.send();
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

  /// Sets rows to these values, and their slots to the initial values of the rule. Existing rows
  /// are replaced, and new ones need no admission. Throws `IllegalArgumentException` as a push
  /// does, and if a key repeats.
  ///
  /// The shards execute it once, like a push, in the order of arrival. It is not a clock, and not a
  /// push that Adam or eviction counts. In a synchronous table rows are inserted and removed before
  /// the first push of any worker: the call throws `IllegalStateException` if this worker has
  /// pushed, and the handle fails with `CommException.Mismatch` if another one has.
  public Handle<Void> insert(KeyList keys, MemorySegment values) throws InterruptedException {
    return insert(keys, values, Values.FLOAT32);
  }

  /// Inserts rows of a FLOAT32 or FLOAT16 view, whose shape is ignored.
  public Handle<Void> insert(KeyList keys, TensorView values) throws InterruptedException {
    return insert(keys, values.data(), format(values));
  }

  /// Inserts rows of an array.
  public Handle<Void> insert(long[] keys, float[] values) throws InterruptedException {
    return insert(requests.cut(keys), MemorySegment.ofArray(values));
  }

  private Handle<Void> insert(KeyList keys, MemorySegment values, Values format)
      throws InterruptedException {
    checkValues(keys, values, format);
    requests.checkDistinct(keys);
    return requests.insert(keys, format, values, -1);
  }

  /// Removes the rows of these keys, and ignores keys without a row. The keys have initial values
  /// again. Executed as `insert` is.
  public Handle<Void> remove(KeyList keys) throws InterruptedException {
    checkTable(keys);
    return requests.remove(keys);
  }

  /// Removes the rows of these keys.
  public Handle<Void> remove(long... keys) throws InterruptedException {
    return remove(requests.cut(keys));
  }

  /// Writes all rows with their slots to files in a directory that all servers and this worker
  /// reach under the same path, while all workers continue. The servers write the rows of a
  /// synchronous table as of one clock, and otherwise those of each shard as of one moment. The
  /// previous export there is removed. Throws `IOException` if this worker cannot write, for
  /// example because the directory has other files of this kind, and `CommException.Mismatch` if a
  /// server cannot.
  ///
  /// @param within how long it may take
  public Checkpoint exportRows(Path directory, Duration within)
      throws IOException, InterruptedException {
    CheckpointOptions options =
        CheckpointOptions.in(directory)
            .named(RowFiles.job(spec().name()))
            .keeping(1)
            .withFullEvery(1)
            .within(within);
    return new CheckpointMaking(options, links, List.of(spec()), KvOp.EXPORT).make();
  }

  /// Inserts all rows of files, which may be those of another table of equal width, and waits for
  /// the shards. Returns the number of rows. If it fails, some rows may be inserted, and it may be
  /// repeated. Throws `IllegalArgumentException` if the widths differ, or if slots are to be kept
  /// and the rules differ.
  public long importRows(RowFiles files, RowFiles.Slots slots)
      throws IOException, InterruptedException {
    Objects.requireNonNull(slots, "slots");
    boolean keepsSlots = slots == RowFiles.Slots.KEPT;
    String rule = CheckpointLoading.ruleName(spec());
    TableSpec from = files.spec();
    if (from.width() != spec().width()
        || (keepsSlots && !CheckpointLoading.ruleName(from).equals(rule))) {
      throw new IllegalArgumentException(
          "table '%s': exported rows of %d floats with rule '%s', expected %d floats%s"
              .formatted(
                  spec().name(),
                  from.width(),
                  from.rule(),
                  spec().width(),
                  keepsSlots ? " with the slots of '" + rule + "'; or import Slots.INITIAL" : ""));
    }
    long step = keepsSlots ? (UpdateRules.countsSteps(spec().rule()) ? files.step() : 0) : -1;
    int floats = keepsSlots ? requests.floats() : (int) spec().width();
    var open = new ArrayDeque<Handle<Void>>();
    try {
      files.forEachBlock(
          block -> {
            try {
              if (open.size() == MOST_INSERTS) {
                var unused = open.remove().await();
              }
              open.add(
                  requests.insert(
                      requests.cut(RowFiles.keys(block)),
                      Values.FLOAT32,
                      RowFiles.values(block, floats),
                      step));
            } catch (InterruptedException interrupted) {
              throw new InterruptedIOException();
            }
          });
    } catch (InterruptedIOException interrupted) {
      throw new InterruptedException();
    }
    while (!open.isEmpty()) {
      var unused = open.remove().await();
    }
    return files.rows();
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
    checkTable(keys);
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

  private void checkTable(KeyList keys) {
    if (keys.table().id() != spec().id()) {
      throw new IllegalArgumentException(
          "table '%s': a list of keys of table '%s', with other shards; make one by keys() of this table"
              .formatted(spec().name(), keys.table().name()));
    }
  }
}
