// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import java.util.Optional;

/// A handler of text commands that workers send to servers, independent of any table (ps-lite's
/// `SimpleApp`).
@FunctionalInterface
public interface KvCommands {

  /// The maximum length of a command and of an answer in bytes of UTF-8.
  int MOST_BYTES = 512;

  /// A handler that knows no command.
  KvCommands NONE = (worker, command) -> Optional.empty();

  /// Returns this server's answer, or empty for an unknown command. Called sequentially, on a
  /// separate thread. The worker receives the message of a thrown exception.
  ///
  /// @param worker rank of the worker that sent the command
  Optional<String> answer(int worker, String command);
}
