// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.digits;

import java.util.List;

/// The glyphs of the digits 0 to 9 in each font, as paths in a box of 100 by 100, y pointing down
/// (see `Glyph.parse`).
final class Fonts {

  private static final List<String> ROUND =
      List.of(
          "A 50 50 26 40 0 360",
          "M 38 25 L 54 10 L 54 90",
          "A 50 34 24 24 180 390 L 26 90 L 76 90",
          "A 48 30 22 20 200 450 A 48 70 25 20 270 520",
          "M 62 90 L 62 10 L 22 65 L 80 65",
          "M 72 10 L 34 10 L 30 47 A 48 65 25 25 225 500",
          "M 68 12 Q 30 30 26 65 M 74 66 A 50 66 24 24 0 360",
          "M 24 10 L 76 10 L 42 90",
          "A 50 30 20 20 90 450 A 50 70 25 20 270 630",
          "A 50 34 24 24 0 360 Q 73 72 34 90");

  private static final List<String> ANGULAR =
      List.of(
          "M 28 10 L 72 10 L 72 90 L 28 90 L 28 10",
          "M 50 10 L 50 90",
          "M 28 10 L 72 10 L 72 48 L 28 52 L 28 90 L 72 90",
          "M 28 10 L 72 10 L 72 90 L 28 90 M 36 50 L 72 50",
          "M 28 10 L 28 52 L 72 52 M 72 10 L 72 90",
          "M 72 10 L 28 10 L 28 48 L 72 52 L 72 90 L 28 90",
          "M 72 10 L 28 10 L 28 90 L 72 90 L 72 50 L 28 50",
          "M 28 10 L 72 10 L 72 90",
          "M 28 10 L 72 10 L 72 90 L 28 90 L 28 10 M 28 50 L 72 50",
          "M 72 50 L 28 50 L 28 10 L 72 10 L 72 90 L 28 90");

  private static final List<String> TYPEWRITER =
      List.of(
          "A 50 50 24 40 0 360 M 62 30 L 38 70",
          "M 34 24 L 50 10 L 50 90 M 32 90 L 68 90",
          "A 50 32 22 22 190 400 Q 50 70 24 90 L 76 90 L 76 80",
          "M 26 10 L 72 10 L 46 42 A 46 66 26 24 270 515",
          "M 34 10 L 24 56 L 78 56 M 62 30 L 62 90",
          "M 70 10 L 32 10 L 32 44 Q 50 36 64 46 Q 78 62 66 80 Q 50 96 26 82",
          "M 70 20 Q 50 2 34 28 Q 20 60 32 78 Q 50 98 68 78 Q 78 58 60 50 Q 42 46 29 62",
          "M 24 22 L 24 10 L 76 10 L 46 90 M 38 50 L 68 50",
          "M 50 48 C 20 38 26 10 50 10 C 74 10 80 38 50 48 C 14 60 22 90 50 90"
              + " C 78 90 86 60 50 48",
          "M 70 40 Q 56 56 38 48 Q 22 38 32 20 Q 48 2 66 18 Q 80 40 66 72 Q 52 96 30 80");

  private static final List<String> CURSIVE =
      List.of(
          "M 58 12 C 20 8 16 92 50 90 C 84 88 78 14 50 12",
          "M 58 10 L 44 90",
          "M 26 30 C 30 4 76 4 68 36 C 62 60 30 78 26 86 C 36 72 48 96 76 84",
          "M 28 18 C 44 4 76 10 66 32 C 60 46 48 46 42 48 C 60 46 80 56 72 76 C 62 96 34 92 24 80",
          "M 38 10 C 34 30 30 44 24 58 C 44 54 60 56 78 54 M 66 28 C 62 50 60 70 58 92",
          "M 74 10 L 36 14 C 34 28 32 36 30 44 C 50 34 74 46 70 68 C 66 92 38 94 24 82",
          "M 64 10 C 40 20 22 50 28 72 C 34 94 66 94 70 72 C 72 54 44 50 30 68",
          "M 26 16 C 40 10 60 18 76 12 C 64 36 50 60 44 92",
          "M 70 20 C 50 0 22 18 36 38 C 48 52 76 62 68 82 C 58 98 26 94 30 74 C 34 54 72 44 70 20",
          "M 70 28 C 58 4 26 14 28 36 C 32 54 62 52 70 28 C 72 50 68 74 60 92");

  private final List<List<Glyph>> glyphs;

  /// Parses all glyphs.
  Fonts() {
    glyphs = parse(List.of(ROUND, ANGULAR, TYPEWRITER, CURSIVE));
  }

  private static List<List<Glyph>> parse(List<List<String>> fonts) {
    return fonts.stream().map(font -> font.stream().map(Glyph::parse).toList()).toList();
  }

  /// Returns the number of fonts.
  int count() {
    return glyphs.size();
  }

  /// Returns a digit's glyph.
  Glyph glyph(int font, int digit) {
    return glyphs.get(font).get(digit);
  }
}
