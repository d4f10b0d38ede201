// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import java.io.PrintWriter;

/// Says "interrupted" where a signal ends this process while it measures. What it has started is
/// ended too, and fails of that: such a failure is not told. Until `close`. Any thread.
public final class Interruption implements AutoCloseable {

  private final PrintWriter err;
  private final Thread atEnd;

  private Interruption(PrintWriter err) {
    this.err = err;
    this.atEnd = new Thread(() -> say("interrupted"), "weft-interrupted");
  }

  /// From now on it is told there.
  public static Interruption toldTo(PrintWriter err) {
    var interruption = new Interruption(err);
    Runtime.getRuntime().addShutdownHook(interruption.atEnd);
    return interruption;
  }

  /// Tells of a failure, unless this process is being ended.
  public void tell(PerfException.Failed failed) {
    if (forget()) {
      say(String.valueOf(failed.getMessage()));
    }
  }

  private void say(String what) {
    err.println("weft: " + what);
    err.flush();
  }

  /// False where this process is being ended.
  private boolean forget() {
    try {
      Runtime.getRuntime().removeShutdownHook(atEnd);
      return true;
    } catch (IllegalStateException ending) {
      return false;
    }
  }

  @Override
  public void close() {
    boolean unused = forget();
  }
}
