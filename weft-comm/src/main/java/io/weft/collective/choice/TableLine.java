// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// One line of the table, read.
///
/// @param collective its name
/// @param conditions which must all hold
/// @param rule what follows
record TableLine(String collective, List<Condition> conditions, Rule rule) {

  private static final String SHARED = "shared";

  TableLine {
    conditions = List.copyOf(conditions);
  }

  /// Reads one. Throws `IllegalArgumentException` with what is allowed.
  ///
  /// @param origin where it stands; empty = shipped
  /// @param algorithms of each collective
  static TableLine parse(String text, String origin, Map<String, List<String>> algorithms) {
    List<String> columns = Stream.of(text.split("\\|", -1)).map(String::strip).toList();
    if (columns.size() != 4) {
      throw new IllegalArgumentException(
          "'%s' is not COLLECTIVE | CONDITIONS | ALGORITHM | WHY".formatted(text.strip()));
    }
    String collective = columns.getFirst();
    List<String> known = algorithms.get(collective);
    if (known == null) {
      throw new IllegalArgumentException(
          "no collective '%s'; allowed: %s"
              .formatted(
                  collective, String.join(", ", algorithms.keySet().stream().sorted().toList())));
    }
    String algorithm = columns.get(2);
    if (!known.contains(algorithm)) {
      throw new IllegalArgumentException(
          "no algorithm '%s' for %s; allowed: %s"
              .formatted(algorithm, collective, String.join(", ", known)));
    }
    List<Condition> conditions =
        Stream.of(columns.get(1).split("\\s+"))
            .filter(word -> !word.isEmpty())
            .map(Condition::parse)
            .toList();
    TableLine line =
        new TableLine(
            collective, conditions, new Rule(algorithm, columns.get(1), columns.get(3), origin));
    line.check();
    return line;
  }

  private void check() {
    if (rule.why().isEmpty()) {
      throw new IllegalArgumentException("the reason is missing, behind the last '|'");
    }
    if (rule.algorithm().equals(SHARED) && !asks(Condition.Key.SHARED_MEMORY)) {
      throw new IllegalArgumentException(
          "algorithm 'shared' needs the condition shared-memory: elsewhere no rank can run it");
    }
    boolean differ = collective.equals("allgather") || collective.equals("alltoall");
    if (differ && conditions.stream().anyMatch(condition -> condition.key().isSize())) {
      throw new IllegalArgumentException(
          "%s cannot be chosen by bytes or chunk: ranks may have tensors of different lengths, and"
                  .formatted(collective)
              + " all must choose the same");
    }
  }

  private boolean asks(Condition.Key key) {
    return conditions.stream().anyMatch(condition -> condition.key() == key);
  }
}
