// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.text;

import java.util.Objects;

/// The classes of the language model: the codes of ASCII. Code 127 stands for every character that
/// is not in ASCII. Stateless.
public final class Characters {

  /// The number of classes.
  public static final int COUNT = 128;

  private static final byte OTHER = COUNT - 1;
  private static final char REPLACEMENT = '\uFFFD';

  private Characters() {}

  /// Returns the class of each UTF-16 character.
  public static byte[] classes(String text) {
    Objects.requireNonNull(text, "text");
    byte[] classes = new byte[text.length()];
    for (int i = 0; i < classes.length; i++) {
      char character = text.charAt(i);
      classes[i] = character < OTHER ? (byte) character : OTHER;
    }
    return classes;
  }

  /// Returns the character of a class.
  public static char character(int code) {
    Objects.checkIndex(code, COUNT);
    return code == OTHER ? REPLACEMENT : (char) code;
  }
}
