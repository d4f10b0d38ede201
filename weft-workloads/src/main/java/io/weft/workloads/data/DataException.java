// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.io.Serial;
import java.nio.file.Path;

/// A data file that cannot be used. The message names the file, the expected content, the content
/// found, and the place where the file is published. Nothing was kept.
public abstract sealed class DataException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  DataException(String message) {
    super(message);
  }

  /// The file does not exist or cannot be read.
  public static final class Missing extends DataException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates the exception with the missing file and the remedy.
    public Missing(String message) {
      super(message);
    }
  }

  /// The file is valid, but this process does not have enough memory for its contents.
  public static final class TooLarge extends DataException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates the exception with the name of the file or data set.
    public TooLarge(String what, OutOfMemoryError cause) {
      super(
          what
              + ": the data set does not fit into a heap of "
              + (Runtime.getRuntime().maxMemory() >> 20)
              + " MiB; give each process more, for example by JAVA_TOOL_OPTIONS=-Xmx8g, or a"
              + " smaller set");
      initCause(cause);
    }
  }

  /// The file exists, but it is truncated, in another format, or has wrong labels.
  public static final class Malformed extends DataException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates the exception with the expected content, the content found, and the remedy.
    public Malformed(Path file, String expected, String found, String remedy) {
      super(file + ": expected " + expected + ", found " + found + "; " + remedy);
    }

    /// Creates the exception for a file of another rank.
    public Malformed(String message) {
      super(message);
    }
  }
}
