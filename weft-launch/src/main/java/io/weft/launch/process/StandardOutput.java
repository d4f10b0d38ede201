// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import io.weft.transport.limit.Refusal;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;

/// This process's standard output, when it has refused something: a `PrintStream` keeps the reason
/// for itself.
public final class StandardOutput {

  private static final String NOT_OPEN = "Bad file descriptor";

  private StandardOutput() {}

  /// Why, as the system says when it is asked once more, by an empty line. Any thread.
  public static String reason() {
    try {
      new FileOutputStream(FileDescriptor.out).write('\n');
      return "is its disk full?";
    } catch (IOException refused) {
      String reason = Refusal.reason(refused);
      return reason.equals(NOT_OPEN) ? "it was closed before this command began" : reason;
    }
  }
}
