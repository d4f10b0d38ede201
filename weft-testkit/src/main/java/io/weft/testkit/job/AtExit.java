// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import java.util.Objects;

/// What is to be undone when it is closed, and also when this process is ended before.
public final class AtExit implements AutoCloseable {

  private final Runnable undo;
  private final Thread hook;

  /// From now on.
  public AtExit(String name, Runnable undo) {
    Objects.requireNonNull(undo, "undo");
    this.undo = undo;
    this.hook = new Thread(undo, name);
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /// Undoes it, twice if the process is being ended meanwhile.
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException exiting) {
      assert hook.isAlive(); // it does the same
    }
    undo.run();
  }
}
