// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

/// Finished work of all queue pairs, in the order in which the device told of it. One thread.
public interface Completions {

  /// Takes what has finished since; how many, at most 64. They can be looked at by their place,
  /// from 0 on, until the next call. Throws `VerbsException`.
  ///
  /// Hot path.
  int poll();

  /// What the poster called it.
  long id(int place);

  /// Number of the queue pair it belongs to.
  int queuePair(int place);

  /// Whether it succeeded.
  boolean succeeded(int place);

  /// The immediate value that came with a receive.
  int immediate(int place);

  /// How it ended, in words.
  String words(int place);
}
