// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// A package shows at most seven types.
final class PublicTypesRule {

  private static final int LIMIT = 7;

  /// Packages that show more, how many, and why. Lower a number when the package shrinks.
  private static final Map<String, Integer> WIDER =
      Map.of(
          "io.weft.transport", 13, // the seam: one type for each noun of the glossary
          "io.weft.tensorflow.ffm", 10, // one type for each structure of TensorFlow's C API
          "io.weft.collective.schedule", 11, // one algorithm a type, public for their proof
          "io.weft.cluster", 11, // what the job is, and the mesh that services share
          "io.weft.workloads.training", 10, // the settings of a training, one type each
          "io.weft.tensorflow", 8); // the ops, the optimizer and what checks them

  private PublicTypesRule() {}

  static ArchRule rule() {
    return classes()
        .that()
        .areTopLevelClasses()
        .should(new Counted())
        .because("a reader holds seven names in mind");
  }

  private static final class Counted extends ArchCondition<JavaClass> {

    private final Map<String, List<String>> shown = new TreeMap<>();

    Counted() {
      super("be among at most %d public types of their package", LIMIT);
    }

    @Override
    public void init(Collection<JavaClass> all) {
      shown.clear();
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
      if (type.getModifiers().contains(JavaModifier.PUBLIC)) {
        shown.merge(type.getPackageName(), List.of(type.getSimpleName()), Counted::joined);
      }
    }

    @Override
    public void finish(ConditionEvents events) {
      shown.forEach(
          (where, types) -> {
            int limit = WIDER.getOrDefault(where, LIMIT);
            if (types.size() > limit) {
              String message =
                  "%s shows %d types, more than %d: %s"
                      .formatted(where, types.size(), limit, types);
              events.add(SimpleConditionEvent.violated(types, message));
            }
          });
    }

    private static List<String> joined(List<String> some, List<String> more) {
      return java.util.stream.Stream.concat(some.stream(), more.stream()).toList();
    }
  }
}
