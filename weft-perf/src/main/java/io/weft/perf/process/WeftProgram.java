// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import java.util.List;
import java.util.Objects;

/// The command `weft` of this build in a separate JVM. Stateless.
public final class WeftProgram {

  private static final String MAIN = "io.weft.launch.cli.Main";

  /// The property with the path of the archive of classes, which is passed on to the ranks.
  private static final String ARCHIVE = "weft.archive";

  private WeftProgram() {}

  /// Returns the command line of `weft` with these words.
  public static List<String> command(List<String> words) {
    Objects.requireNonNull(words, "words");
    String archive = System.getProperty(ARCHIVE, "");
    List<String> flags = archive.isEmpty() ? List.of() : List.of("-D" + ARCHIVE + "=" + archive);
    return new JavaProgram(MAIN, System.getProperty("java.class.path"), flags).command(words);
  }
}
