// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

/// A duty cycle. All methods except `busy`, `hasCommands` and `wake` run on one thread at a time:
/// the progress thread, a waiting caller, or a simulator.
public interface Agent extends AutoCloseable {

  /// Name of the thread and of the dashboard's row.
  String role();

  /// Performs one duty cycle without blocking. Returns the amount of work done, 0 = none.
  int work(long nowNanos);

  /// Waits until there may be work, `wake` is called or `maxNanos` have passed.
  void await(long maxNanos);

  /// Ends the current or the next `await` early. Any thread.
  void wake();

  /// Returns whether operations are in progress, so that a waiting thread should spin for a while.
  /// Any thread.
  boolean busy();

  /// Returns whether submitted commands are queued. Any thread.
  boolean hasCommands();

  /// Fails all pending operations and disables the agent, after a duty cycle has thrown `cause`,
  /// which is a defect.
  void crash(Throwable cause);

  @Override
  void close();
}
