// SPDX-License-Identifier: Apache-2.0
/// The machine that figures belong to: what it is, and how its processors stand to each other.
@NullMarked
package io.weft.launch.perf.machine;

import org.jspecify.annotations.NullMarked;
