// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.file.ScratchDirectory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Iterator;
import org.apache.spark.sql.Row;

/// The rows of a partition on the local disk, from where each epoch reads them in another order.
/// They are written once, as they come, so that memory holds only a buffer. One thread. Owned;
/// `close` deletes the file.
final class RowFile implements AutoCloseable {

  private static final int BUFFER_BYTES = 1 << 20;

  private final ScratchDirectory directory;
  private final Arena arena;
  private final MemorySegment values;
  private final int width;
  private final int count;

  private RowFile(
      ScratchDirectory directory, Arena arena, MemorySegment values, int width, int count) {
    this.directory = directory;
    this.arena = arena;
    this.values = values;
    this.width = width;
    this.count = count;
  }

  /// Writes all rows, whose columns are features, label and, if `weighted`, weight. Throws
  /// `IllegalArgumentException` for a row that the reader refuses, or whose number of features
  /// differs from that of the first.
  static RowFile write(Iterator<Row> rows, RowReader reader, boolean weighted) throws IOException {
    Path parent = Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
    ScratchDirectory directory = ScratchDirectory.create(parent, "weft-spark");
    Arena arena = Arena.ofConfined();
    try (FileChannel channel =
        FileChannel.open(
            directory.path().resolve("rows"),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      int width = 0;
      int count = 0;
      ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.nativeOrder());
      while (rows.hasNext()) {
        Row row = rows.next();
        float[] features = reader.features(row, 0);
        if (count == 0) {
          width = features.length;
          buffer =
              buffer.capacity() >= bytes(width)
                  ? buffer
                  : ByteBuffer.allocateDirect(bytes(width)).order(ByteOrder.nativeOrder());
        } else if (features.length != width) {
          throw new IllegalArgumentException(
              "a row has %d features and an earlier one %d; all rows must have equally many"
                  .formatted(features.length, width));
        }
        if (buffer.remaining() < bytes(width)) {
          drain(buffer, channel);
        }
        buffer.asFloatBuffer().put(features);
        buffer.position(buffer.position() + width * Float.BYTES);
        buffer.putFloat(reader.label(row, 1));
        buffer.putFloat(weighted ? RowReader.weight(row, 2) : 1);
        count = Math.incrementExact(count);
      }
      drain(buffer, channel);
      MemorySegment values = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      return new RowFile(directory, arena, values, width, count);
    } catch (IOException | RuntimeException failed) {
      arena.close();
      directory.close();
      throw failed;
    }
  }

  private static int bytes(int width) {
    return Math.multiplyExact(width + 2, Float.BYTES);
  }

  private static void drain(ByteBuffer buffer, FileChannel channel) throws IOException {
    buffer.flip();
    while (buffer.hasRemaining()) {
      var unused = channel.write(buffer);
    }
    buffer.clear();
  }

  /// Returns the number of rows.
  int count() {
    return count;
  }

  /// Returns the number of features of each row, 0 without rows.
  int width() {
    return width;
  }

  /// Copies a row's features to `into` from `at` on.
  void features(int row, float[] into, int at) {
    MemorySegment.copy(values, ValueLayout.JAVA_FLOAT, start(row), into, at, width);
  }

  /// Returns the label of a row.
  float label(int row) {
    return values.get(ValueLayout.JAVA_FLOAT, start(row) + (long) width * Float.BYTES);
  }

  /// Returns the weight of a row.
  float weight(int row) {
    return values.get(ValueLayout.JAVA_FLOAT, start(row) + (width + 1L) * Float.BYTES);
  }

  private long start(int row) {
    return (long) row * bytes(width);
  }

  @Override
  public void close() throws IOException {
    arena.close();
    directory.close();
  }
}
