// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer;

/// A client of a store of rows by key. Requests are answered in their order. One thread.
interface KvClient {

  /// Adds rows to those that are there; one that is not is all zero.
  ///
  /// @param keys ascending, each once
  /// @param values row after row
  void push(long[] keys, float[] values) throws Exception;

  /// Asks for rows.
  ///
  /// @param keys ascending, each once
  void pull(long[] keys) throws Exception;

  /// Waits for the answer to the oldest request: the rows of a pull, nothing of a push.
  float[] await() throws Exception;

  /// Ends the connection.
  void end() throws Exception;
}
