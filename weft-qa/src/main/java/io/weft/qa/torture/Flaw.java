// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A fault in the end of a job.
///
/// @param kind its kind
/// @param words a description
public record Flaw(FlawKind kind, String words) {

  /// The kinds of faults.
  public enum FlawKind {
    /// The job was not ready for harm in time.
    START,
    /// The job did not end.
    HANG,
    /// A survivor took longer than its limit.
    LATE,
    /// A survivor or the launcher ended with 0, crashed, or did not name the harmed rank.
    CAUSE,
    /// Processes remained.
    ORPHAN,
    /// Files remained.
    FILE
  }

  private static final Pattern JSON =
      Pattern.compile("\\{\"kind\":\"(\\w+)\",\"words\":\"((?:[^\"\\\\]|\\\\.)*)\"}");
  private static final Pattern ESCAPED = Pattern.compile("\\\\(?:u([0-9a-f]{4})|(.))");

  String json() {
    return "{\"kind\":\"" + kind + "\",\"words\":" + quoted(words) + "}";
  }

  /// Returns all flaws in a text of JSON objects.
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
