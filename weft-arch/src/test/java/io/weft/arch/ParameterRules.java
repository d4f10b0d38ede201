// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.Set;

/// The limits of constructors and records.
final class ParameterRules {

  /// The classes above a limit. The set may only shrink: a class below the limits must leave it.
  static final Set<String> ABOVE =
      Set.of(
          "io.weft.collective.mailbox.MailboxAllreduce",
          "io.weft.collective.service.InlineOperation",
          "io.weft.telemetry.metrics.Goodput",
          "io.weft.tensorflow.session.ClientStep",
          "io.weft.verbs.VerbsSettings",
          "io.weft.verbs.ring.VerbsInbound",
          "io.weft.workloads.report.TrainReport",
          "io.weft.workloads.training.TrainingOutcome",
          "io.weft.workloads.training.TrainingSettings");

  private static final int MOST_PARAMETERS = 5;
  private static final int MOST_COMPONENTS = 8;

  private ParameterRules() {}

  static List<ArchRule> all() {
    return List.of(
        classes()
            .should(new Limits())
            .because("fields that belong together are a notion with a name of its own"));
  }

  private static final class Limits extends ArchCondition<JavaClass> {

    Limits() {
      super(
          "have constructors of at most %d parameters and records of at most %d components",
          MOST_PARAMETERS, MOST_COMPONENTS);
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
      int components = type.isRecord() ? components(type) : 0;
      int parameters = parameters(type, components);
      boolean above = parameters > MOST_PARAMETERS || components > MOST_COMPONENTS;
      boolean listed = ABOVE.contains(type.getName());
      if (above && !listed) {
        events.add(
            SimpleConditionEvent.violated(
                type,
                "%s has a constructor of %d parameters or %d components"
                    .formatted(type.getName(), parameters, components)));
      }
      if (listed && !above) {
        events.add(
            SimpleConditionEvent.violated(
                type, type.getName() + " is within the limits; remove it from ABOVE"));
      }
    }

    private static int components(JavaClass type) {
      return (int)
          type.getFields().stream()
              .filter(field -> !field.getModifiers().contains(JavaModifier.STATIC))
              .count();
    }

    /// Returns the greatest number of parameters of a constructor that is neither private nor the
    /// canonical one of a record.
    private static int parameters(JavaClass type, int components) {
      if (type.isAnonymousClass() || type.isLocalClass()) {
        return 0; // the compiler adds captured variables
      }
      boolean isInner = type.isMemberClass() && !type.getModifiers().contains(JavaModifier.STATIC);
      return type.getConstructors().stream()
          .filter(constructor -> !constructor.getModifiers().contains(JavaModifier.PRIVATE))
          .mapToInt(constructor -> declared(constructor, isInner))
          .filter(count -> !type.isRecord() || count != components)
          .max()
          .orElse(0);
    }

    private static int declared(JavaConstructor constructor, boolean isInner) {
      return constructor.getRawParameterTypes().size() - (isInner ? 1 : 0);
    }
  }
}
