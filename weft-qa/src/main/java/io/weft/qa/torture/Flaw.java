// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Something that was wrong with how a job ended.
///
/// @param words for people
public record Flaw(FlawKind kind, String words) {

  /// What can be wrong.
  public enum FlawKind {
    /// It did not come so far that it could be harmed.
    START,
    /// It did not end.
    HANG,
    /// A survivor took longer than it may.
    LATE,
    /// A survivor, or the launcher, ended well, crashed, or did not name who was harmed.
    CAUSE,
    /// Processes were left.
    ORPHAN,
    /// Files were left.
    FILE
  }

  private static final Pattern JSON =
      Pattern.compile("\\{\"kind\":\"(\\w+)\",\"words\":\"((?:[^\"\\\\]|\\\\.)*)\"}");
  private static final Pattern ESCAPED = Pattern.compile("\\\\(?:u([0-9a-f]{4})|(.))");

  String json() {
    return "{\"kind\":\"" + kind + "\",\"words\":" + quoted(words) + "}";
  }

  /// All that stand in this text.
  static List<Flaw> parse(String json) {
    var flaws = new ArrayList<Flaw>();
    Matcher matcher = JSON.matcher(json);
    while (matcher.find()) {
      flaws.add(new Flaw(FlawKind.valueOf(matcher.group(1)), plain(matcher.group(2))));
    }
    return flaws;
  }

  private static String quoted(String text) {
    var quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  private static String plain(String escaped) {
    return ESCAPED
        .matcher(escaped)
        .replaceAll(
            found ->
                Matcher.quoteReplacement(
                    found.group(1) == null
                        ? found.group(2)
                        : Character.toString(Integer.parseInt(found.group(1), 16))));
  }
}
