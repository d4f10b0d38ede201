// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

/// Completed work of all queue pairs, in the order of the device's completions. Confined to one
/// thread.
public interface Completions {

  /// Polls up to 64 new completions and returns their count. They can be read by their index from 0
  /// until the next call. Throws `VerbsException`.
  ///
  /// Hot path.
  int poll();

  /// Returns the identifier that the poster assigned.
  long id(int place);

  /// Returns the number of the queue pair.
  int queuePair(int place);

  /// Returns whether the request succeeded.
  boolean succeeded(int place);

  /// Returns the immediate value of a receive.
  int immediate(int place);

  /// Returns a description of the status.
  String words(int place);
}
