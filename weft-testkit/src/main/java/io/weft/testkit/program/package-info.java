// SPDX-License-Identifier: Apache-2.0
/// The programs that tests use where they are installed: whether one is usable is decided here.
@NullMarked
package io.weft.testkit.program;

import org.jspecify.annotations.NullMarked;
