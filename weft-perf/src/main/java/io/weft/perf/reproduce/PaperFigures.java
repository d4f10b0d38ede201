// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.config.ConfigOption;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The figures of the five documents.
final class PaperFigures {

  private PaperFigures() {}

  /// Returns all figures in the order of the documents.
  static List<PaperFigure> all() {
    return Stream.of(
            RdmaTensorFlowFigures.all(),
            RdmaServerFigures.all(),
            MpiTensorFlowFigures.all(),
            SparseTensorFlowFigures.all(),
            HorovodFigures.all())
        .flatMap(List::stream)
        .toList();
  }

  /// Returns the figures that at least one of the words selects, all without words. Throws
  /// `IllegalArgumentException` with the known figures if a word selects none.
  static List<PaperFigure> selected(List<String> words) {
    List<PaperFigure> all = all();
    if (words.isEmpty()) {
      return all;
    }
    Set<PaperFigure> selected = new LinkedHashSet<>();
    for (String word : words) {
      List<PaperFigure> found = all.stream().filter(each -> each.isSelectedBy(word)).toList();
      if (found.isEmpty()) {
        throw new IllegalArgumentException(unknown(word, all));
      }
      selected.addAll(found);
    }
    return all.stream().filter(selected::contains).toList();
  }

  private static String unknown(String word, List<PaperFigure> all) {
    List<String> keys = all.stream().map(PaperFigure::key).toList();
    Optional<String> near = ConfigOption.nearest(word, keys);
    return "--only: unknown figure '%s'; %sknown: a document (%s), or %s"
        .formatted(
            word,
            near.map(name -> "did you mean " + name + "? ").orElse(""),
            all.stream().map(PaperFigure::document).distinct().collect(Collectors.joining(", ")),
            String.join(", ", keys));
  }
}
