// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.file.ForeignFile;
import io.weft.text.Printable;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A host and its number of ranks.
///
/// @param name the host's name for ssh
/// @param slots number of ranks, at least 1
public record HostSlots(String name, int slots) {

  private static final int MOST_BYTES = 1 << 22;
  private static final Pattern ENTRY =
      Pattern.compile("([A-Za-z0-9_.@%-]+|\\[[0-9A-Fa-f:%.]+])(?::([0-9]{1,6}))?");
  private static final Pattern LINE = Pattern.compile("(\\S+)(?:\\s+slots\\s*=\\s*([0-9]{1,6}))?");

  /// Throws `IllegalArgumentException` if the name looks like an option or cannot be printed, or if
  /// there is no slot.
  public HostSlots {
    if (slots < 1) {
      throw new IllegalArgumentException(
          "host " + name + " has " + slots + " slots, not 1 or more");
    }
    if (!name.equals(Printable.of(name))) {
      throw new IllegalArgumentException(
          "host '" + Printable.of(name) + "' has characters that cannot be printed");
    }
    if (isThisHost(name)) {
      name = RankPlacement.HERE;
    }
    if (name.startsWith("-")) {
      throw new IllegalArgumentException("host '" + name + "' begins with a hyphen");
    }
  }

  /// Returns true if the name means this host. Ranks under several such names are on one host.
  private static boolean isThisHost(String name) {
    return name.toLowerCase(Locale.ROOT).matches("localhost\\.?|127(\\.[0-9]{1,3}){1,3}|::1");
  }

  /// Parses `h1:4,h2`. Throws `IllegalArgumentException` with the wrong entry.
  public static List<HostSlots> parseList(String list) {
    return Arrays.stream(list.split(",", -1)).map(entry -> parse(entry.strip())).toList();
  }

  /// Reads a file of one host per line, `h1 slots=4` or `h1:4`; `#` begins a comment. Throws
  /// `IllegalArgumentException` with the wrong line.
  public static List<HostSlots> readFile(Path file) {
    List<String> lines;
    try {
      lines = ForeignFile.named(file).text(MOST_BYTES).lines().toList();
    } catch (IOException unreadable) {
      throw new IllegalArgumentException(
          "host file " + file + " cannot be read: " + IoErrors.reason(unreadable), unreadable);
    }
    var hosts = new ArrayList<HostSlots>();
    for (int number = 1; number <= lines.size(); number++) {
      String line = lines.get(number - 1).replaceFirst("#.*", "").strip();
      if (line.isEmpty()) {
        continue;
      }
      Matcher matcher = LINE.matcher(line);
      if (!matcher.matches()) {
        throw new IllegalArgumentException(
            file + ", line " + number + ": '" + line + "' is not HOST, HOST:SLOTS or HOST slots=N");
      }
      HostSlots host = parse(matcher.group(1));
      hosts.add(
          matcher.group(2) == null
              ? host
              : new HostSlots(host.name(), Integer.parseInt(matcher.group(2))));
    }
    if (hosts.isEmpty()) {
      throw new IllegalArgumentException("host file " + file + " names no host");
    }
    return hosts;
  }

  private static HostSlots parse(String entry) {
    Matcher matcher = ENTRY.matcher(entry);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("'" + entry + "' is not HOST or HOST:SLOTS");
    }
    int slots = matcher.group(2) == null ? 1 : Integer.parseInt(matcher.group(2));
    return new HostSlots(matcher.group(1).replaceAll("[\\[\\]]", ""), slots);
  }
}
