// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.program;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/// Marks tests that are skipped, with a reason, if an optional program is not usable.
@Documented
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("optional")
@ExtendWith(ProgramCondition.class)
public @interface Needs {

  /// Returns the required programs.
  OptionalProgram[] value();
}
