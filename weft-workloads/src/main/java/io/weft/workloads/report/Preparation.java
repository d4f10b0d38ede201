// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import io.weft.agent.Ticker;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.function.BooleanSupplier;

/// Tells people what happens before the first step, and how much of it is done, when a part of that
/// takes more than two seconds: on a terminal in one line that is drawn again, elsewhere a line
/// every few seconds. A thread of its own looks at what the training thread does, which may be a
/// single call that lasts. Closed by its owner; what begins afterwards is told by nobody.
public final class Preparation implements AutoCloseable {

  private static final long FIRST_NANOS = 2_000_000_000;
  private static final long TERMINAL_NANOS = 200_000_000;
  private static final long LOG_NANOS = 5_000_000_000L;
  private static final double NANOS = 1e9;

  private final PrintWriter err;
  private final ProgressPrinter.Style style;
  private final BooleanSupplier speaks;
  private final Ticker ticker;

  // Of the part that runs. Guarded by this.
  private String what = "";
  private long begun;
  private long nextNanos;
  private boolean closed;

  // How much of it is done; read without order, since the next look sees what this one missed.
  private volatile long done;
  private volatile long all;
  private volatile String unit = "";

  /// Tells nothing before the first `begin`.
  ///
  /// @param speaks whether this is the rank that tells
  /// @param ticker the clock
  Preparation(PrintWriter err, ProgressPrinter.Style style, BooleanSupplier speaks, Ticker ticker) {
    this.err = err;
    this.style = style;
    this.speaks = speaks;
    this.ticker = ticker;
  }

  /// Makes one that tells by itself, on a daemon thread that ends with `close`.
  public static Preparation start(
      PrintWriter err, ProgressPrinter.Style style, BooleanSupplier speaks) {
    var preparation = new Preparation(err, style, speaks, Ticker.SYSTEM);
    Thread.ofPlatform().daemon().name("weft-preparation").start(preparation::tellUntilClosed);
    return preparation;
  }

  /// The next part begins, and the one before is over. Any thread.
  ///
  /// @param part in words
  public synchronized void begin(String part) {
    what = part;
    unit = "";
    begun = ticker.nanos();
    nextNanos = begun + FIRST_NANOS;
  }

  /// So much of the present part is done, as `ReadProgress` has it. Any thread.
  public void at(long count, long of, String what) {
    done = count;
    all = of;
    unit = what;
  }

  /// There is nothing left to wait for. Any thread; a second call has no effect.
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

  /// Tells how far the present part is, if it is time.
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
