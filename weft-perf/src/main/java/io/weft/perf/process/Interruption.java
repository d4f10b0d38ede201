// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import java.io.PrintWriter;

/// Reports "interrupted" if a signal ends this process during a measurement. The signal also ends
/// started programs, and their failures are not reported. It is active until `close`. Safe for use
/// by any thread.
public final class Interruption implements AutoCloseable {

  private final PrintWriter err;
  private final Thread atEnd;

  private Interruption(PrintWriter err) {
    this.err = err;
    this.atEnd = new Thread(() -> say("interrupted"), "weft-interrupted");
  }

  /// Begins to report an interruption to `err`.
  public static Interruption toldTo(PrintWriter err) {
    var interruption = new Interruption(err);
    Runtime.getRuntime().addShutdownHook(interruption.atEnd);
    return interruption;
  }

  /// Reports a failure unless this process is being ended.
  public void tell(PerfException.Failed failed) {
    if (forget()) {
      say(String.valueOf(failed.getMessage()));
    }
  }

  private void say(String what) {
    err.println("weft: " + what);
    err.flush();
  }

  /// Removes the hook. Returns false if this process is being ended.
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
