// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import io.weft.agent.Ticker;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.function.BooleanSupplier;

/// A printer of the progress before the first step. It reports each part that takes more than two
/// seconds: on a terminal in one line that is redrawn, elsewhere in a line every few seconds. A
/// separate thread observes the training thread, which may be in a single long call. The owner
/// closes it; parts that begin afterwards are not reported.
public final class Preparation implements AutoCloseable {

  private static final long FIRST_NANOS = 2_000_000_000;
  private static final long TERMINAL_NANOS = 200_000_000;
  private static final long LOG_NANOS = 5_000_000_000L;
  private static final double NANOS = 1e9;

  private final PrintWriter err;
  private final ProgressPrinter.Style style;
  private final BooleanSupplier speaks;
  private final Ticker ticker;

  // The current part; guarded by this.
  private String what = "";
  private long begun;
  private long nextNanos;
  private boolean closed;

  // The progress of the current part. A report may mix old and new values; the next one is correct.
  private volatile long done;
  private volatile long all;
  private volatile String unit = "";

  /// Reports nothing before the first `begin`.
  ///
  /// @param speaks returns whether this rank reports
  /// @param ticker the clock
  Preparation(PrintWriter err, ProgressPrinter.Style style, BooleanSupplier speaks, Ticker ticker) {
    this.err = err;
    this.style = style;
    this.speaks = speaks;
    this.ticker = ticker;
  }

  /// Creates a printer that reports on a daemon thread, which ends with `close`.
  public static Preparation start(
      PrintWriter err, ProgressPrinter.Style style, BooleanSupplier speaks) {
    var preparation = new Preparation(err, style, speaks, Ticker.SYSTEM);
    Thread.ofPlatform().daemon().name("weft-preparation").start(preparation::tellUntilClosed);
    return preparation;
  }

  /// Begins the next part and ends the preceding one. Any thread may call it.
  ///
  /// @param part in words
  public synchronized void begin(String part) {
    what = part;
    unit = "";
    begun = ticker.nanos();
    nextNanos = begun + FIRST_NANOS;
  }

  /// Sets the progress of the current part, like `ReadProgress`. Any thread may call it.
  public void at(long count, long of, String what) {
    done = count;
    all = of;
    unit = what;
  }

  /// Ends the reports. Any thread may call it; a second call has no effect.
  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }

  private synchronized void tellUntilClosed() {
    try {
      while (!closed) {
        tell();
        wait(TERMINAL_NANOS / 1_000_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// Reports the progress of the current part, if it is time.
  synchronized void tell() {
    long now = ticker.nanos();
    if (closed || what.isEmpty() || now - nextNanos < 0 || !speaks.getAsBoolean()) {
      return;
    }
    boolean terminal = style == ProgressPrinter.Style.TERMINAL;
    nextNanos = now + (terminal ? TERMINAL_NANOS : LOG_NANOS);
    String text =
        String.format(
            Locale.ROOT, "%s%s, for %.0f s", what, extent(), Math.floor((now - begun) / NANOS));
    if (terminal) {
      err.print(ProgressPrinter.ERASE + text);
    } else {
      err.println(text);
    }
    err.flush();
  }

  private String extent() {
    if (unit.isEmpty()) {
      return "";
    }
    return all < 0
        ? String.format(Locale.ROOT, ", %,d %s", done, unit)
        : String.format(Locale.ROOT, ", %,d of %,d %s", done, all, unit);
  }
}
