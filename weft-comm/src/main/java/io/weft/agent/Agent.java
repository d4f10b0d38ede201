// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

/// A duty cycle. All methods but `busy`, `hasCommands` and `wake` run on one thread at a time,
/// which may be a caller's that lends itself, or a simulator's.
public interface Agent extends AutoCloseable {

  /// Name of the thread and of the dashboard's row.
  String role();

  /// Does what can be done now; returns the amount of work done, 0 = nothing. Never blocks.
  int work(long nowNanos);

  /// Waits until there may be work, `wake` is called or `maxNanos` have passed.
  void await(long maxNanos);

  /// Ends a present or the next `await` early. Any thread.
  void wake();

  /// Whether operations are under way, so that waiting for them is worth some spinning. Any thread.
  boolean busy();

  /// Whether submitted commands wait to be taken. Any thread.
  boolean hasCommands();

  /// A turn has thrown this, which it must not: fail all that waits, and never work again.
  void crash(Throwable cause);

  @Override
  void close();
}
