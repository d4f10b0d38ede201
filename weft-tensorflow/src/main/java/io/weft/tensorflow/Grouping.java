// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The partition of gradients into groups, which are submitted and completed as a whole. A pure
/// function, identical on all ranks.
@FunctionalInterface
public interface Grouping {

  /// Each gradient alone, except that a `DataParallel` averages gradients of at most 1 MiB in total
  /// as one group.
  Grouping SINGLE = variables -> variables.stream().map(List::of).toList();

  /// Partitions the variables into groups in list order. Each variable is in exactly one group.
  ///
  /// @param variables names of the variables whose gradients are averaged
  List<List<String>> cut(List<String> variables);

  /// Returns a grouping into `groups` groups of neighbouring variables, as equal in number of
  /// variables as possible, or into one group per variable if there are fewer variables. Throws
  /// `IllegalArgumentException` for less than one group.
  static Grouping into(int groups) {
    if (groups < 1) {
      throw new IllegalArgumentException("gradients form at least 1 group, got " + groups);
    }
    return variables -> {
      int count = Math.min(groups, variables.size());
      List<List<String>> found = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        found.add(
            List.copyOf(
                variables.subList(
                    i * variables.size() / count, (i + 1) * variables.size() / count)));
      }
      return found;
    };
  }

  /// Returns a grouping into these groups and one group for each other variable. A variable without
  /// a gradient is left out. Throws `IllegalArgumentException` for a variable that is named twice.
  static Grouping of(List<List<String>> groups) {
    Set<String> named = new HashSet<>();
    for (List<String> group : groups) {
      for (String variable : group) {
        if (!named.add(variable)) {
          throw new IllegalArgumentException("variable '" + variable + "' is in two groups");
        }
      }
    }
    List<List<String>> copies = groups.stream().map(List::copyOf).toList();
    return variables -> {
      List<List<String>> found = new ArrayList<>();
      for (List<String> group : copies) {
        List<String> there = group.stream().filter(variables::contains).toList();
        if (!there.isEmpty()) {
          found.add(there);
        }
      }
      variables.stream().filter(name -> !named.contains(name)).map(List::of).forEach(found::add);
      return found;
    };
  }
}
