// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rocksdb;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.spill.RowStore;
import io.weft.kv.spill.RowStoreException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.rocksdb.ByteBufferGetStatus;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Snapshot;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/// A table's rows in a RocksDB database. The keys are encoded so that their byte order is their
/// order as signed numbers. Confined to the thread that opened it.
final class RocksRowStore implements RowStore {

  private static final int KEY_BYTES = Long.BYTES;

  private final RocksDB rows;
  private final Options options;
  private final Path directory;
  private final int rowBytes;
  private final Runnable onClose;
  private final ReadOptions reading = new ReadOptions();
  private final WriteOptions writing = new WriteOptions().setDisableWAL(true);
  private final WriteBatch batch = new WriteBatch();
  private final ByteBuffer key = ByteBuffer.allocateDirect(KEY_BYTES);
  private final Set<Frozen> views = new HashSet<>();
  private ByteBuffer keys = ByteBuffer.allocateDirect(KEY_BYTES * 16);
  private boolean closed;

  RocksRowStore(RocksDB rows, Options options, Path directory, int rowBytes, Runnable onClose) {
    this.rows = rows;
    this.options = options;
    this.directory = directory;
    this.rowBytes = rowBytes;
    this.onClose = onClose;
  }

  /// Returns the key whose order as an unsigned number is the order of the row's key as a signed
  /// number.
  private static long ordered(long ofRow) {
    return ofRow ^ Long.MIN_VALUE;
  }

  private RowStoreException failed(String what, RocksDBException why) {
    return new RowStoreException(
        "RocksDB in " + directory + " cannot " + what + ": " + why.getMessage(), why);
  }

  @Override
  public void get(long[] asked, int count, MemorySegment into, boolean[] found) {
    if (keys.capacity() < count * KEY_BYTES) {
      keys = ByteBuffer.allocateDirect(count * KEY_BYTES);
    }
    List<ByteBuffer> names = new ArrayList<>(count);
    List<ByteBuffer> values = new ArrayList<>(count);
    ByteBuffer all = into.asSlice(0, (long) count * rowBytes).asByteBuffer();
    for (int i = 0; i < count; i++) {
      keys.putLong(i * KEY_BYTES, ordered(asked[i]));
      names.add(keys.slice(i * KEY_BYTES, KEY_BYTES));
      values.add(all.slice(i * rowBytes, rowBytes));
    }
    try {
      List<ByteBufferGetStatus> answers = rows.multiGetByteBuffers(reading, names, values);
      for (int i = 0; i < count; i++) {
        found[i] = isFound(asked[i], answers.get(i));
      }
    } catch (RocksDBException refused) {
      throw failed("read rows", refused);
    }
  }

  private boolean isFound(long asked, ByteBufferGetStatus answer) throws RocksDBException {
    if (answer.status.getCode() == Status.Code.NotFound) {
      return false;
    }
    if (answer.status.getCode() != Status.Code.Ok) {
      throw new RocksDBException(answer.status);
    }
    if (answer.requiredSize != rowBytes) {
      throw new RocksDBException(
          "the row of key %d has %d bytes, not %d".formatted(asked, answer.requiredSize, rowBytes));
    }
    return true;
  }

  @Override
  public void put(MemorySegment from, int count) {
    ByteBuffer all = from.asSlice(0, (long) count * rowBytes).asByteBuffer();
    try {
      for (int i = 0; i < count; i++) {
        named(from.get(JAVA_LONG_UNALIGNED, (long) i * rowBytes));
        batch.put(key, all.slice(i * rowBytes, rowBytes));
      }
      rows.write(writing, batch);
    } catch (RocksDBException refused) {
      throw failed("write " + count + " rows", refused);
    } finally {
      batch.clear();
    }
  }

  private void named(long ofRow) {
    key.clear();
    key.putLong(0, ordered(ofRow));
  }

  @Override
  public void remove(long[] gone, int count) {
    try {
      for (int i = 0; i < count; i++) {
        batch.delete(ByteBuffer.allocate(KEY_BYTES).putLong(ordered(gone[i])).array());
      }
      rows.write(writing, batch);
    } catch (RocksDBException refused) {
      throw failed("remove " + count + " rows", refused);
    } finally {
      batch.clear();
    }
  }

  @Override
  public int scan(long from, MemorySegment into) {
    try (RocksIterator each = rows.newIterator(reading)) {
      named(from);
      each.seek(key);
      return read(each, into);
    }
  }

  /// Reads rows from an iterator's position into the available space. Returns their number.
  private int read(RocksIterator each, MemorySegment into) {
    ByteBuffer all = into.asByteBuffer();
    int most = (int) (into.byteSize() / rowBytes);
    int n = 0;
    try {
      while (n < most && each.isValid()) {
        int bytes = each.value(all.slice(n * rowBytes, rowBytes));
        if (bytes != rowBytes) {
          throw new RocksDBException("a row has %d bytes, not %d".formatted(bytes, rowBytes));
        }
        n++;
        each.next();
      }
      each.status();
    } catch (RocksDBException refused) {
      throw failed("read rows in order", refused);
    }
    return n;
  }

  @Override
  public View view() {
    return new Frozen();
  }

  private final class Frozen implements View {
    private final Snapshot at = rows.getSnapshot();
    private final ReadOptions then = new ReadOptions().setSnapshot(at).setFillCache(false);
    private final RocksIterator each = rows.newIterator(then);
    private boolean ended;

    private Frozen() {
      views.add(this);
      each.seekToFirst();
    }

    @Override
    public int next(MemorySegment into) {
      return read(each, into);
    }

    @Override
    public void close() {
      if (!ended) {
        ended = true;
        views.remove(this);
        each.close();
        then.close();
        rows.releaseSnapshot(at);
        at.close();
      }
    }
  }

  @Override
  public long diskBytes() {
    try {
      return rows.getLongProperty("rocksdb.total-sst-files-size");
    } catch (RocksDBException refused) {
      throw failed("report the size of its files", refused);
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    List.copyOf(views).forEach(Frozen::close);
    batch.close();
    reading.close();
    writing.close();
    rows.cancelAllBackgroundWork(true);
    rows.close();
    options.close();
    onClose.run();
  }
}
