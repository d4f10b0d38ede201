// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.secure;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/// A logger whose warnings strangers cause, so that it writes at most a few lines per second and
/// then says how many it left out. Time comes from the poll. Confined to one thread.
public final class RateLimitedLog {

  private static final long PERIOD_NANOS = 1_000_000_000L;
  private static final int LINES_PER_PERIOD = 5;

  private final Logger logger;
  private final String prefix;
  private long nowNanos;
  private long periodStart;
  private int lines;
  private long leftOut;

  /// Every line begins with `prefix`.
  public RateLimitedLog(String name, String prefix) {
    this.logger = System.getLogger(name);
    this.prefix = prefix;
  }

  /// The present time.
  public void tick(long now) {
    nowNanos = now;
  }

  /// Something that an operator should see.
  public void warning(String message) {
    long since = nowNanos - periodStart;
    if (since > PERIOD_NANOS || since < 0) {
      periodStart = nowNanos;
      lines = 0;
      if (leftOut > 0) {
        long before = leftOut;
        leftOut = 0;
        log(before + " similar lines were left out");
      }
    }
    if (lines < LINES_PER_PERIOD) {
      lines++;
      log(message);
    } else {
      leftOut++;
    }
  }

  /// A logger may itself need a file that cannot be opened any more; that must harm nobody.
  private void log(String line) {
    try {
      logger.log(Level.WARNING, prefix + ": " + line);
    } catch (RuntimeException | Error unable) {
      leftOut++;
    }
  }

  /// Something for whoever looks for a fault.
  public void debug(String message) {
    logger.log(Level.DEBUG, message);
  }
}
