// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import io.weft.transport.limit.Span;
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

/// Writes to one stream of this process on a thread of its own. Whoever reads the stream may pause
/// or leave: that thread alone waits for it, never one that ends ranks. Any thread.
public final class OutputWriter implements AutoCloseable {

  /// How far the reader may be behind before ranks wait for it.
  private static final int MOST_BYTES = 1 << 20;

  /// What the launcher itself may say beyond that.
  private static final int MOST_MESSAGE_BYTES = 1 << 18;

  private final PrintStream to;
  private final Runnable onGone;
  private final PrintStream messages =
      new PrintStream(new Messages(), true, StandardCharsets.UTF_8);
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<byte[]> waiting = new ArrayDeque<>();

  /// Handed over and not yet written, what is being written included.
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
  /// @param onGone runs once, on that thread, when the stream takes nothing more
  public static OutputWriter start(String name, PrintStream to, Runnable onGone) {
    var writer = new OutputWriter(to, onGone);
    var unused = Thread.ofPlatform().daemon().name(name).start(writer::run);
    return writer;
  }

  /// Hands over a copy, in one piece; waits while the reader is far behind. What comes after
  /// `hurry`, or when the stream is gone, is dropped.
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

  /// For what the launcher says itself. Never waits: where the reader is far behind, it is dropped.
  public PrintStream messages() {
    return messages;
  }

  /// Nobody waits for the reader any more.
  public void hurry() {
    lock.lock();
    try {
      hurried = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// Whether something was handed over that is not written yet, and the reader is waited for.
  public boolean isAwaited() {
    lock.lock();
    try {
      return behindBytes > 0 && !gone && !hurried;
    } finally {
      lock.unlock();
    }
  }

  /// Waits until all is written; when somebody hurries, or has, only so long.
  public void drain(Duration limit) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long end = System.nanoTime() + Span.nanos(limit);
      while (behindBytes > 0 && !gone && (!hurried || System.nanoTime() - end < 0)) {
        if (!hurried) {
          end = System.nanoTime() + Span.nanos(limit);
        }
        var unused = changed.await(20, TimeUnit.MILLISECONDS);
      }
    } finally {
      lock.unlock();
    }
  }

  /// Takes nothing more. What was handed over is still written, if the reader takes it.
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
        // Flushes, too.
        writable = !to.checkError();
        written(batch, writable);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return;
    }
    onGone.run();
  }

  /// None when it is closed.
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
