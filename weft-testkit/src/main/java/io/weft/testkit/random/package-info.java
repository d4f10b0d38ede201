// SPDX-License-Identifier: Apache-2.0
/// Random values for measurements and tests.
@NullMarked
package io.weft.testkit.random;

import org.jspecify.annotations.NullMarked;
