// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Callers must not ignore the result of the annotated method. Error Prone recognizes this
/// annotation by its name, so that an ignored back-pressure result does not compile.
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface CheckReturnValue {}
