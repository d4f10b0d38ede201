// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import io.weft.transport.limit.ClampedDuration;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// A writer to a stream of this process on a separate thread. If the reader of the stream pauses or
/// leaves, only that thread waits for it, never a thread that ends ranks. Any thread.
public final class OutputWriter implements AutoCloseable {

  /// The number of unwritten bytes from which ranks wait for the reader.
  private static final int MOST_BYTES = 1 << 20;

  /// The additional bytes that the launcher's messages may use.
  private static final int MOST_MESSAGE_BYTES = 1 << 18;

  private final PrintStream to;
  private final Runnable onGone;
  private final PrintStream messages =
      new PrintStream(new Messages(), true, StandardCharsets.UTF_8);
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<byte[]> waiting = new ArrayDeque<>();

  /// The accepted bytes that are not completely written.
  private long behindBytes;

  private boolean gone;
  private boolean hurried;
  private boolean closed;

  private OutputWriter(PrintStream to, Runnable onGone) {
    this.to = to;
    this.onGone = onGone;
  }

  /// Starts the thread.
  ///
  /// @param onGone runs once, on that thread, when the stream refuses bytes
  public static OutputWriter start(String name, PrintStream to, Runnable onGone) {
    var writer = new OutputWriter(to, onGone);
    var unused = Thread.ofPlatform().daemon().name(name).start(writer::run);
    return writer;
  }

  /// Queues a copy of the bytes in one piece. Waits while the reader is far behind. After `hurry`,
  /// bytes are dropped while the reader is far behind; after the stream has failed or `close`, all
  /// are dropped.
  public void write(byte[] bytes, int offset, int length) throws InterruptedException {
    byte[] copy = Arrays.copyOfRange(bytes, offset, offset + length);
    lock.lockInterruptibly();
    try {
      while (behindBytes >= MOST_BYTES && !gone && !hurried && !closed) {
        var unused = changed.await(1, TimeUnit.SECONDS);
      }
      if (!gone && !closed && behindBytes < MOST_BYTES) {
        add(copy);
      }
    } finally {
      lock.unlock();
    }
  }

  /// Returns the stream of the launcher's messages. It never waits: messages are dropped while the
  /// reader is far behind.
  public PrintStream messages() {
    return messages;
  }

  /// Stops waiting for the reader.
  public void hurry() {
    lock.lock();
    try {
      hurried = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// Returns true if bytes are not written and callers wait for the reader.
  public boolean isAwaited() {
    lock.lock();
    try {
      return behindBytes > 0 && !gone && !hurried;
    } finally {
      lock.unlock();
    }
  }

  /// Waits until all bytes are written. After `hurry`, it waits at most `limit`.
  public void drain(Duration limit) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long end = System.nanoTime() + ClampedDuration.nanos(limit);
      while (behindBytes > 0 && !gone && (!hurried || System.nanoTime() - end < 0)) {
        if (!hurried) {
          end = System.nanoTime() + ClampedDuration.nanos(limit);
        }
        var unused = changed.await(20, TimeUnit.MILLISECONDS);
      }
    } finally {
      lock.unlock();
    }
  }

  /// Stops accepting bytes. Queued bytes are still written if the reader takes them.
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void add(byte[] bytes) {
    waiting.add(bytes);
    behindBytes += bytes.length;
    changed.signalAll();
  }

  private void run() {
    try {
      boolean writable = true;
      while (writable) {
        List<byte[]> batch = next();
        if (batch.isEmpty()) {
          return;
        }
        batch.forEach(bytes -> to.write(bytes, 0, bytes.length));
        // `checkError` also flushes.
        writable = !to.checkError();
        written(batch, writable);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return;
    }
    onGone.run();
  }

  /// Returns the next queued bytes; empty after `close`.
  private List<byte[]> next() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (waiting.isEmpty() && !closed) {
        changed.await();
      }
      var batch = new ArrayList<byte[]>();
      for (int bytes = 0; bytes < 1 << 16 && !waiting.isEmpty(); ) {
        byte[] first = waiting.remove();
        batch.add(first);
        bytes += first.length;
      }
      return batch;
    } finally {
      lock.unlock();
    }
  }

  private void written(List<byte[]> batch, boolean writable) {
    lock.lock();
    try {
      behindBytes -= batch.stream().mapToLong(bytes -> bytes.length).sum();
      gone = !writable;
      if (gone) {
        waiting.clear();
        behindBytes = 0;
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private final class Messages extends OutputStream {

    @Override
    public void write(int one) {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      lock.lock();
      try {
        if (!gone && !closed && behindBytes < MOST_BYTES + MOST_MESSAGE_BYTES) {
          add(Arrays.copyOfRange(bytes, offset, offset + length));
        }
      } finally {
        lock.unlock();
      }
    }
  }
}
