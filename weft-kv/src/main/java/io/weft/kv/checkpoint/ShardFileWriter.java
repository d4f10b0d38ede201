// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.checkpoint;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.file.NewFile;
import io.weft.kv.table.TableSink;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// A writer of a shard's file. The shard's thread collects rows and elements into blocks, and
/// another thread writes them. Additions never wait. Callers that can postpone an addition check
/// `hasRoom` first. The file appears under its name only when it is completely on disk.
public final class ShardFileWriter implements TableSink {

  private static final int MOST_WAITING = 8;

  private final Path path;
  private final Executor writer;
  private final Memory memory;
  private final Consumer<Written> onEnd;
  private final AtomicInteger waiting = new AtomicInteger();
  private final CRC32C whole = new CRC32C();
  private @Nullable NewFile file;
  private @Nullable OutputStream out;
  private volatile @Nullable String failure;
  private long blocks;
  private long bytes;
  private long rows;

  private byte[] filling = new byte[0];
  private int filled;
  private int rowsFilled;

  /// The account of the memory of waiting blocks. Any thread.
  public interface Memory {

    /// Reserves `bytes`, or throws a `RuntimeException` with the reason.
    void reserve(long bytes);

    /// Releases bytes and notifies waiting writers.
    void release(long bytes);
  }

  /// The result of a write.
  ///
  /// @param failure the reason why the file was not written; null if it was
  /// @param bytes of the file
  /// @param checksum CRC32C of the whole file
  /// @param rows in it
  public record Written(@Nullable String failure, long bytes, int checksum, long rows) {}

  /// @param writer runs its tasks sequentially, on another thread
  /// @param onEnd receives the result on that thread, once, after `end`
  public ShardFileWriter(Path path, Executor writer, Memory memory, Consumer<Written> onEnd) {
    this.path = path;
    this.writer = writer;
    this.memory = memory;
    this.onEnd = onEnd;
  }

  /// Begins the file with its header.
  public void begin(ShardFile header) {
    byte[] words = header.encode();
    hand(Block.Type.HEADER, 0, 0, 0, words, words.length);
  }

  /// Returns whether the queue of waiting blocks has room.
  public boolean hasRoom() {
    return waiting.get() < MOST_WAITING;
  }

  /// Returns whether the write has failed, after which nothing more needs to be added.
  public boolean hasFailed() {
    return failure != null;
  }

  @Override
  public void row(MemorySegment from, long at, int rowBytes) {
    if (filled + rowBytes > filling.length) {
      flush();
      filling = new byte[Math.max(Block.PAYLOAD_BYTES, rowBytes)];
    }
    MemorySegment.copy(from, JAVA_BYTE, at, filling, filled, rowBytes);
    filled += rowBytes;
    rowsFilled++;
  }

  private void flush() {
    if (filled > 0) {
      hand(Block.Type.ROWS, 0, rowsFilled, 0, filling, filled);
    }
    filling = new byte[0];
    filled = 0;
    rowsFilled = 0;
  }

  /// Adds bytes of a tensor's part as a separate block.
  @Override
  public void elements(int part, long at, byte[] content, int count) {
    hand(Block.Type.ELEMENTS, part, 0, at, content, count);
  }

  /// Ends the file. Nothing more may be added.
  public void end() {
    flush();
    run(
        () -> {
          byte[] counts = new byte[16];
          MemorySegment to = MemorySegment.ofArray(counts);
          to.set(JAVA_LONG_UNALIGNED, 0, blocks + 1);
          to.set(JAVA_LONG_UNALIGNED, 8, rows);
          write(Block.Type.END, 0, 0, 0, counts, counts.length);
          NewFile begun = file;
          if (begun != null) {
            begun.publishDurably();
          }
        });
    finish();
  }

  /// Abandons the file.
  public void abandon(String why) {
    fail(why);
    finish();
  }

  private void fail(String why) {
    if (failure == null) {
      failure = why;
    }
  }

  private void finish() {
    if (!execute(this::over)) {
      over();
    }
  }

  private void over() {
    NewFile begun = file;
    file = null;
    try {
      if (begun != null) {
        begun.close();
      }
    } catch (IOException left) {
      fail(path + ": " + IoErrors.reason(left));
    }
    onEnd.accept(new Written(failure, bytes, (int) whole.getValue(), rows));
  }

  private void hand(
      Block.Type type, int part, int count, long at, byte[] payload, int payloadBytes) {
    if (failure != null) {
      return;
    }
    try {
      memory.reserve(payload.length);
    } catch (RuntimeException refused) {
      fail("the disk is slower than pushes change rows: " + refused.getMessage());
      return;
    }
    waiting.incrementAndGet();
    boolean taken =
        run(
            () -> {
              try {
                write(type, part, count, at, payload, payloadBytes);
              } finally {
                waiting.decrementAndGet();
                memory.release(payload.length);
              }
            });
    if (!taken) {
      waiting.decrementAndGet();
      memory.release(payload.length);
    }
  }

  @FunctionalInterface
  private interface Writing {
    void run() throws IOException;
  }

  private boolean run(Writing writing) {
    return execute(
        () -> {
          try {
            writing.run();
          } catch (IOException refused) {
            fail(path + ": " + IoErrors.reason(refused));
          } catch (RuntimeException refused) {
            fail(path + ": " + refused);
          }
        });
  }

  private boolean execute(Runnable task) {
    try {
      writer.execute(task);
      return true;
    } catch (RejectedExecutionException ended) {
      fail("the server has ended");
      return false;
    }
  }

  private void write(
      Block.Type type, int part, int count, long at, byte[] payload, int payloadBytes)
      throws IOException {
    if (failure != null) {
      return;
    }
    OutputStream to = out;
    if (to == null) {
      NewFile begun = NewFile.beginPrivate(path);
      file = begun;
      to = begun.stream();
      out = to;
    }
    byte[] head = Block.head(type, part, count, at, payload, payloadBytes);
    to.write(head);
    to.write(payload, 0, payloadBytes);
    whole.update(head);
    whole.update(payload, 0, payloadBytes);
    bytes += head.length + payloadBytes;
    blocks++;
    rows += type == Block.Type.ROWS ? count : 0;
  }
}
