// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import java.util.Objects;

/// An action that runs on `close`, and also if this process ends before.
public final class AtExit implements AutoCloseable {

  private final Runnable undo;
  private final Thread hook;

  /// Registers the action.
  public AtExit(String name, Runnable undo) {
    Objects.requireNonNull(undo, "undo");
    this.undo = undo;
    this.hook = new Thread(undo, name);
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /// Runs the action, twice if the process ends at the same time.
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException exiting) {
      assert hook.isAlive(); // it runs the action
    }
    undo.run();
  }
}
