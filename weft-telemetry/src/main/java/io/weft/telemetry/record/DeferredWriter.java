// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.record;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread that writes a rank's record after each failure, and when the process ends. It is a
/// daemon thread, which the first request starts, so that no progress thread waits for a disk. Any
/// thread.
public final class DeferredWriter implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(DeferredWriter.class);

  /// The longest time for which the end of a rank, or of its process, waits for the last record.
  private static final Duration LAST = Duration.ofSeconds(5);

  private final String record;
  private final Runnable write;
  private final BooleanSupplier atExit;
  private final Thread thread;
  private final Thread hook;
  private final AtomicLong requested = new AtomicLong();
  private final AtomicBoolean started = new AtomicBoolean();
  private volatile boolean closed;

  private DeferredWriter(String name, String record, Runnable write, BooleanSupplier atExit) {
    this.record = Objects.requireNonNull(record, "record");
    this.write = Objects.requireNonNull(write, "write");
    this.atExit = Objects.requireNonNull(atExit, "atExit");
    this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    this.hook = Thread.ofPlatform().name(name + "-exit").unstarted(this::exit);
  }

  /// Waits for requests, and for the end of the process.
  ///
  /// @param name the name of the thread
  /// @param record the kind of the record, for messages
  /// @param write writes the present record; may block; must not throw
  /// @param atExit returns whether a record is written when the process ends before `close`
  public static DeferredWriter open(
      String name, String record, Runnable write, BooleanSupplier atExit) {
    var writer = new DeferredWriter(name, record, write, atExit);
    try {
      Runtime.getRuntime().addShutdownHook(writer.hook);
    } catch (IllegalStateException ending) {
      LOG.debug("{}", ending.getMessage());
    }
    return writer;
  }

  /// Requests that the present record be written. Does not block.
  public void request() {
    requested.incrementAndGet();
    if (started.compareAndSet(false, true)) {
      thread.start();
    } else {
      LockSupport.unpark(thread);
    }
  }

  /// Waits until the record of the last request is written, at most 5 s. A second call has no
  /// effect.
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException exiting) {
      LOG.debug("{}", exiting.getMessage());
    }
    finish();
  }

  private void exit() {
    if (atExit.getAsBoolean()) {
      request();
    }
    finish();
  }

  private void finish() {
    closed = true;
    if (!started.get()) {
      return;
    }
    LockSupport.unpark(thread);
    try {
      if (!thread.join(LAST)) {
        LOG.warn("the {} is not written after {} s; it is left out", record, LAST.toSeconds());
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    long written = 0;
    while (true) {
      boolean last = closed; // read before requested, so that earlier requests are written
      long now = requested.get();
      if (now != written) {
        written = now;
        write.run();
      } else if (last) {
        return;
      } else {
        LockSupport.park(this);
      }
    }
  }
}
