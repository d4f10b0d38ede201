// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer;

/// A client of a store of rows by key. Replies have the order of requests. Confined to one thread.
interface KvClient {

  /// Adds rows to the stored rows. A missing row counts as zeros.
  ///
  /// @param keys distinct keys in ascending order
  /// @param values the rows in the order of the keys
  void push(long[] keys, float[] values) throws Exception;

  /// Requests rows.
  ///
  /// @param keys distinct keys in ascending order
  void pull(long[] keys) throws Exception;

  /// Waits for the reply to the oldest request. Returns the rows of a pull, nothing for a push.
  float[] await() throws Exception;

  /// Closes the connection.
  void end() throws Exception;
}
