// SPDX-License-Identifier: Apache-2.0
package io.weft.text;

/// Text on one line that a terminal, a log and a browser show as it is read: names of hosts,
/// tensors, files and jobs, and the words of exceptions, which others have chosen. A question mark
/// stands for each character that would end the line, move the cursor, change the direction of
/// writing, or is half of one. Pure.
public final class Printable {

  private static final char REPLACEMENT = '?';

  private Printable() {}

  /// Returns the text with each character replaced that `is` refuses; the same text where it has
  /// none.
  public static String of(String text) {
    return text.codePoints().allMatch(Printable::is) ? text : replaced(text);
  }

  /// Returns the same, and of a longer text its first `mostCharacters` and an ellipsis.
  public static String of(String text, int mostCharacters) {
    int characters = text.codePointCount(0, text.length());
    return characters > mostCharacters
        ? of(text.substring(0, text.offsetByCodePoints(0, mostCharacters))) + "…"
        : of(text);
  }

  /// Returns whether the character stands for itself.
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
