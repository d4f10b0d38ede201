// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The garbage collector of the JVMs that Weft starts: the serial one, unless the user's variables
/// choose another. A JVM with two choices does not start. Pure, except `flags`.
public final class Collector {

  private static final Pattern CHOICE = Pattern.compile("-XX:\\+Use\\w*GC\\b");

  private Collector() {}

  /// Returns the flags of a JVM that this process starts with its own variables.
  public static List<String> flags() {
    return flags(System.getenv());
  }

  static List<String> flags(Map<String, String> environment) {
    boolean chosen =
        Stream.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
            .map(name -> environment.getOrDefault(name, ""))
            .anyMatch(text -> CHOICE.matcher(text).find());
    return chosen ? List.of() : List.of("-XX:+UseSerialGC");
  }
}
