// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.program;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/// Skips a test, or all tests of a class, where an optional program is not usable, and says why.
@Documented
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("optional")
@ExtendWith(ProgramCondition.class)
public @interface Needs {

  /// Names the programs, all of which the test uses.
  OptionalProgram[] value();
}
