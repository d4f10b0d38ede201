// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.io.Serial;
import java.nio.file.Path;

/// A data file that cannot be used. The message names the file, what was expected, what was found,
/// and where the file can be had. Nothing was kept.
public abstract sealed class DataException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  DataException(String message) {
    super(message);
  }

  /// The file is not there or cannot be read.
  public static final class Missing extends DataException {
    @Serial private static final long serialVersionUID = 1L;

    /// With what is missing and what to do about it.
    public Missing(String message) {
      super(message);
    }
  }

  /// The file is good, but this process has not memory enough for what is in it.
  public static final class TooLarge extends DataException {
    @Serial private static final long serialVersionUID = 1L;

    /// With the file or the set.
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

  /// The file is there, but is not what it should be: truncated, another format, wrong labels.
  public static final class Malformed extends DataException {
    @Serial private static final long serialVersionUID = 1L;

    /// With what the file should have had, what it has, and what to do about it.
    public Malformed(Path file, String expected, String found, String remedy) {
      super(file + ": expected " + expected + ", found " + found + "; " + remedy);
    }
  }
}
