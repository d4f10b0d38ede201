// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

/// A figure, a table or another number of a document, and its reproduction.
///
/// @param document key of the document in docs/papers.md
/// @param name name within the document: `fig5`, `table1`, or a word
/// @param claim the document's statement
/// @param trial measures and simulates the figure
record PaperFigure(String document, String name, String claim, FigureTrial trial) {

  /// The measurements and simulations of a figure.
  @FunctionalInterface
  interface FigureTrial {
    /// Fills the row. The row keeps the results before an exception. Throws `PerfException` if a
    /// command fails or lacks a requirement.
    void fill(FigureRow row) throws InterruptedException;
  }

  /// Returns the name on the command line.
  String key() {
    return document + "." + name;
  }

  /// Returns whether a word of `--only` selects this figure: `JIA17`, `JIA17.fig5`, `JIA17.5`, and
  /// `HVD18.fig6` for all parts of figure 6.
  boolean isSelectedBy(String word) {
    String whole = word.replaceFirst("\\.(?=\\d)", ".fig");
    if (document.equals(whole) || key().equals(whole)) {
      return true;
    }
    return whole.contains(".")
        && key().startsWith(whole)
        && !Character.isDigit(key().charAt(whole.length()));
  }
}
