// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

/// The figures that are diagrams of a design, without numbers. Stateless.
final class Diagrams {

  private Diagrams() {}

  /// Returns a figure that classes and tests reproduce.
  ///
  /// @param proof the classes and tests that docs/papers.md names
  static PaperFigure of(String document, String name, String claim, String proof) {
    return new PaperFigure(
        document,
        name,
        claim,
        row -> {
          row.verdict(FigureRow.AGREES);
          row.note("A diagram without numbers; see " + proof + " (docs/papers.md)");
        });
  }

  /// Returns a diagram of a design that Weft replaces by another one.
  ///
  /// @param reason the difference
  static PaperFigure differing(String document, String name, String claim, String reason) {
    return new PaperFigure(
        document,
        name,
        claim,
        row -> {
          row.verdict("differs because " + reason);
          row.note("A diagram without numbers");
        });
  }
}
