// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.program;

import java.util.Optional;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/// The condition of [Needs]. Stateless.
final class ProgramCondition implements ExecutionCondition {

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    Optional<Needs> needs = AnnotationSupport.findAnnotation(context.getElement(), Needs.class);
    if (needs.isPresent()) {
      for (OptionalProgram program : needs.get().value()) {
        Optional<String> missing = program.missing();
        if (missing.isPresent()) {
          return ConditionEvaluationResult.disabled(missing.get());
        }
      }
    }
    return ConditionEvaluationResult.enabled("all programs of the test are usable");
  }
}
