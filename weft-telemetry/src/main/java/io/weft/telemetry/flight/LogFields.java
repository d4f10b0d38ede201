// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.text.Printable;
import java.util.Locale;

/// The fields of one line, read in order.
final class LogFields {

  private final String[] parts;
  private int next;

  LogFields(String line) {
    this.parts = line.isEmpty() ? new String[0] : line.split("\t", -1);
  }

  boolean is(String what) {
    boolean same = next == 0 && parts.length > 0 && parts[0].equals(what);
    next += same ? 1 : 0;
    return same;
  }

  void word(String expected) {
    String found = text();
    if (!found.equals(expected)) {
      throw new IllegalArgumentException("'" + found + "', not '" + expected + "'");
    }
  }

  String text() {
    if (next == parts.length) {
      throw new IllegalArgumentException("a field is missing after " + next);
    }
    return unescaped(parts[next++]);
  }

  String name() {
    String quoted = text();
    if (quoted.length() < 2 || !quoted.startsWith("'") || !quoted.endsWith("'")) {
      throw new IllegalArgumentException("'" + quoted + "' is not in quotes");
    }
    return quoted.substring(1, quoted.length() - 1);
  }

  boolean nothing() {
    boolean none = next < parts.length && parts[next].equals("-");
    next += none ? 1 : 0;
    return none;
  }

  long number(long most) {
    String digits = text();
    if (!digits.matches("[0-9]{1,18}") || Long.parseLong(digits) > most) {
      throw new IllegalArgumentException("'" + digits + "' is not a number up to " + most);
    }
    return Long.parseLong(digits);
  }

  long key() {
    String digits = text();
    if (!digits.matches("[0-9a-f]{16}")) {
      throw new IllegalArgumentException("'" + digits + "' is not a key");
    }
    return Long.parseUnsignedLong(digits, 16);
  }

  long time() {
    if (nothing()) {
      return FlightLog.NEVER;
    }
    String seconds = text();
    if (!seconds.matches("[0-9]{1,9}\\.[0-9]{6}")) {
      throw new IllegalArgumentException("'" + seconds + "' is not a time");
    }
    return Long.parseLong(seconds.replace(".", "")) * 1000;
  }

  <E extends Enum<E>> E one(Class<E> of) {
    String word = text();
    for (E value : of.getEnumConstants()) {
      if (value.name().toLowerCase(Locale.ROOT).equals(word)) {
        return value;
      }
    }
    throw new IllegalArgumentException("'" + word + "' is not a " + of.getSimpleName());
  }

  void end() {
    if (next != parts.length) {
      throw new IllegalArgumentException("a field too many: '" + parts[next] + "'");
    }
  }

  private static String unescaped(String field) {
    var plain = new StringBuilder(field.length());
    for (int i = 0; i < field.length(); i++) {
      int c = field.codePointAt(i);
      if (c != '\\' && Printable.is(c)) {
        plain.appendCodePoint(c);
        i += Character.charCount(c) - 1;
      } else if (field.startsWith("\\\\", i)) {
        plain.append('\\');
        i++;
      } else if (field.startsWith("\\u", i) && i + 6 <= field.length()) {
        plain.append((char) hex(field, i + 2));
        i += 5;
      } else {
        throw new IllegalArgumentException("character " + i + " of a field is not escaped");
      }
    }
    return plain.toString();
  }

  private static int hex(String field, int from) {
    int value = 0;
    for (int i = from; i < from + 4; i++) {
      int digit = Character.digit(field.charAt(i), 16);
      if (digit < 0) {
        throw new IllegalArgumentException("character " + i + " of a field is not a digit");
      }
      value = value * 16 + digit;
    }
    return value;
  }
}
