// SPDX-License-Identifier: Apache-2.0
/// Optional programs of tests, and the decision whether each is usable.
@NullMarked
package io.weft.testkit.program;

import org.jspecify.annotations.NullMarked;
