// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Results of these methods must not be ignored: an ignored back-pressure result does not compile
/// (Error Prone knows this annotation by its name).
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface CheckReturnValue {}
