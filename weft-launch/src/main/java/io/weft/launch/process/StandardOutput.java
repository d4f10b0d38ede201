// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import io.weft.transport.limit.IoErrors;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;

/// The reason why standard output has refused bytes, which a `PrintStream` hides.
public final class StandardOutput {

  private static final String NOT_OPEN = "Bad file descriptor";

  private StandardOutput() {}

  /// Returns the system's reason, by writing an empty line again. Any thread.
  public static String reason() {
    try {
      new FileOutputStream(FileDescriptor.out).write('\n');
      return "is its disk full?";
    } catch (IOException refused) {
      String reason = IoErrors.reason(refused);
      return reason.equals(NOT_OPEN) ? "it was closed before this command began" : reason;
    }
  }
}
