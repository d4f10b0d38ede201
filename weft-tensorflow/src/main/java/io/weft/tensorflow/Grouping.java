// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Which gradients are averaged as one group: they are submitted together, and there together. A
/// pure function, the same on all ranks.
@FunctionalInterface
public interface Grouping {

  /// No groups; over a `DataParallel`, gradients of at most 1 MiB in all are averaged as one.
  Grouping SINGLE = variables -> variables.stream().map(List::of).toList();

  /// Cuts the list: each variable is in exactly one group, in the order of the list.
  ///
  /// @param variables names of those whose gradients are averaged
  List<List<String>> cut(List<String> variables);

  /// As many groups, of neighbours, as equal in number of variables as possible; as many as there
  /// are variables if those are fewer. Throws `IllegalArgumentException` for less than one.
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

  /// These groups; what is in none of them is by itself, behind them. A variable that has no
  /// gradient is left out. Throws `IllegalArgumentException` for a variable that is named twice.
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
