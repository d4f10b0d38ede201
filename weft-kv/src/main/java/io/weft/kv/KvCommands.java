// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import java.util.Optional;

/// Answers texts that workers send to servers (ps-lite's `SimpleApp`): what a program wants of its
/// servers that is about no table.
@FunctionalInterface
public interface KvCommands {

  /// Longest command and longest answer in bytes of UTF-8.
  int MOST_BYTES = 512;

  /// Knows no command.
  KvCommands NONE = (worker, command) -> Optional.empty();

  /// The answer of this server; empty: there is no such command. One at a time, on a thread that
  /// does nothing else. What it throws is the answer to its caller.
  ///
  /// @param worker rank of who asks
  Optional<String> answer(int worker, String command);
}
