// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The garbage collector of the JVMs that Weft starts: the serial one, unless the user's variables
/// choose another. A JVM with two choices does not start. Pure, except `flags` without parameters.
public final class Collector {

  private static final Pattern CHOICE = Pattern.compile("-XX:\\+Use\\w*GC\\b");

  private static final Pattern YOUNG = Pattern.compile("-Xmn|-XX:(Max)?New(Size|Ratio)=");

  private Collector() {}

  /// Returns the flags of a JVM that this process starts with its own variables.
  public static List<String> flags() {
    return flags(System.getenv());
  }

  static List<String> flags(Map<String, String> environment) {
    return chosen(CHOICE, environment) ? List.of() : List.of("-XX:+UseSerialGC");
  }

  /// Returns the flags of a rank that trains. A rank has large examples and makes little garbage,
  /// so it keeps little free memory: by default, Java's young generation is a 192nd of the host's
  /// memory, all of which is in use before the first collection, and the other one is 40 % free.
  static List<String> rankFlags(Map<String, String> environment) {
    return chosen(CHOICE, environment) || chosen(YOUNG, environment)
        ? flags(environment)
        : List.of("-XX:+UseSerialGC", "-XX:MaxNewSize=64m", "-XX:MinHeapFreeRatio=10");
  }

  private static boolean chosen(Pattern flag, Map<String, String> environment) {
    return Stream.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
        .map(name -> environment.getOrDefault(name, ""))
        .anyMatch(text -> flag.matcher(text).find());
  }
}
