// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/// A logger for warnings that strangers can cause. It writes at most a few lines per second, then
/// the count of omitted lines. The poll supplies the time. Confined to one thread.
public final class RateLimitedLog {

  private static final long PERIOD_NANOS = 1_000_000_000L;
  private static final int LINES_PER_PERIOD = 5;

  private final Logger logger;
  private final String prefix;
  private long nowNanos;
  private long periodStart;
  private int lines;
  private long leftOut;

  /// Creates a log whose lines begin with `prefix`.
  public RateLimitedLog(String name, String prefix) {
    this.logger = System.getLogger(name);
    this.prefix = prefix;
  }

  /// Sets the current time.
  public void tick(long now) {
    nowNanos = now;
  }

  /// Logs a message for operators.
  public void warning(String message) {
    long since = nowNanos - periodStart;
    if (since > PERIOD_NANOS || since < 0) {
      periodStart = nowNanos;
      lines = 0;
      if (leftOut > 0) {
        long before = leftOut;
        leftOut = 0;
        log(before + " similar lines were omitted");
      }
    }
    if (lines < LINES_PER_PERIOD) {
      lines++;
      log(message);
    } else {
      leftOut++;
    }
  }

  /// Ignores failures of the logger, which may itself need a file that cannot be opened.
  private void log(String line) {
    try {
      logger.log(Level.WARNING, prefix + ": " + line);
    } catch (RuntimeException | Error unable) {
      leftOut++;
    }
  }

  /// Logs a message for diagnosis.
  public void debug(String message) {
    logger.log(Level.DEBUG, message);
  }
}
