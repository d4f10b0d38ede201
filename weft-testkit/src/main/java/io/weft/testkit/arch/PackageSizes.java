// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/// A package has at most twenty types, and shows at most seven of them. Nested ones are not
/// counted.
final class PackageSizes {

  private static final int MOST_SHOWN = 7;
  private static final int MOST = 20;

  /// Packages that show more, how many, and why. Lower a number when the package shrinks.
  private static final Map<String, Integer> SHOWING_MORE =
      Map.of(
          "io.weft.transport", 13, // the seam: one type for each noun of the glossary
          "io.weft.verbs.device", 14, // one type for each noun of verbs
          "io.weft.tensorflow.ffm", 12, // one type for each structure of TensorFlow's C API
          "io.weft.collective.schedule", 11, // one algorithm a type, public for their proof
          "io.weft.cluster", 11, // what the job is, and the mesh that services share
          "io.weft.workloads.training", 10, // the settings of a training, one type each
          "io.weft.tensorflow", 8); // the ops, the optimizer and what checks them

  /// Packages that have more, how many, and why. Lower a number when the package shrinks.
  private static final Map<String, Integer> LARGER =
      Map.of(
          "io.weft.cluster", 25, // the mesh, and how a rank finds and joins it, know each other
          "io.weft.launch.perf", 23, // one command: its options, peers, rounds and table
          "io.weft.shm", 29, // one endpoint: what it shares with a peer is in nobody else's reach
          "io.weft.tensor.kernel", 25, // a kernel for each element type and way of computing
          "io.weft.transport.tcp", 23, // one endpoint and its agent
          "io.weft.workloads.training", 22); // one program: its settings, steps and report

  private PackageSizes() {}

  static List<ArchRule> all() {
    return List.of(
        classes()
            .that()
            .areTopLevelClasses()
            .should(
                new Counted(
                    "shows",
                    type -> type.getModifiers().contains(JavaModifier.PUBLIC),
                    MOST_SHOWN,
                    SHOWING_MORE))
            .because("a reader holds seven names in mind"),
        classes()
            .that()
            .areTopLevelClasses()
            .should(
                new Counted(
                    "has", type -> !type.getSimpleName().equals("package-info"), MOST, LARGER))
            .because("what is not read in an hour has more than one subject"));
  }

  private static final class Counted extends ArchCondition<JavaClass> {

    private final String verb;
    private final Predicate<JavaClass> counts;
    private final int limit;
    private final Map<String, Integer> exceptions;
    private final Map<String, List<String>> found = new TreeMap<>();

    Counted(String verb, Predicate<JavaClass> counts, int limit, Map<String, Integer> exceptions) {
      super("be of a package that %s at most %d types", verb, limit);
      this.verb = verb;
      this.counts = counts;
      this.limit = limit;
      this.exceptions = exceptions;
    }

    @Override
    public void init(Collection<JavaClass> all) {
      found.clear();
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
      if (counts.test(type)) {
        found
            .computeIfAbsent(type.getPackageName(), where -> new ArrayList<>())
            .add(type.getSimpleName());
      }
    }

    @Override
    public void finish(ConditionEvents events) {
      found.forEach(
          (where, types) -> {
            int most = exceptions.getOrDefault(where, limit);
            if (types.size() > most) {
              String message =
                  "%s %s %d types, more than %d: %s"
                      .formatted(where, verb, types.size(), most, types);
              events.add(SimpleConditionEvent.violated(types, message));
            }
          });
    }
  }
}
