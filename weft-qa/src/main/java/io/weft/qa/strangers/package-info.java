// SPDX-License-Identifier: Apache-2.0
/// Attacks on the real ports of a job by processes that do not belong to it, and a program that
/// attacks a training (docs/testing.md).
@NullMarked
package io.weft.qa.strangers;

import org.jspecify.annotations.NullMarked;
