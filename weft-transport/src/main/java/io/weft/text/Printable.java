// SPDX-License-Identifier: Apache-2.0
package io.weft.text;

/// Turns foreign text, such as names of hosts, tensors, files and jobs or messages of exceptions,
/// into one line that a terminal, a log and a browser display faithfully. A question mark replaces
/// each unpaired surrogate, and each character that would end the line, move the cursor or change
/// the direction of writing.
public final class Printable {

  private static final char REPLACEMENT = '?';

  private Printable() {}

  /// Returns the text with a question mark in place of each character that `is` rejects.
  public static String of(String text) {
    return text.codePoints().allMatch(Printable::is) ? text : replaced(text);
  }

  /// Returns the printable text, truncated to `mostCharacters` and followed by an ellipsis if it is
  /// longer.
  public static String of(String text, int mostCharacters) {
    int characters = text.codePointCount(0, text.length());
    return characters > mostCharacters
        ? of(text.substring(0, text.offsetByCodePoints(0, mostCharacters))) + "…"
        : of(text);
  }

  /// Returns whether the character is printable.
  public static boolean is(int character) {
    return switch (Character.getType(character)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }

  private static String replaced(String text) {
    var plain = new StringBuilder(text.length());
    text.codePoints().forEach(c -> plain.appendCodePoint(is(c) ? c : REPLACEMENT));
    return plain.toString();
  }
}
