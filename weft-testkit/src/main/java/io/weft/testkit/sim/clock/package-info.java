// SPDX-License-Identifier: Apache-2.0
/// Virtual time: scheduled events, and blocking programs that wait in it. Only one thread of a
/// simulation runs at any time.
@NullMarked
package io.weft.testkit.sim.clock;

import org.jspecify.annotations.NullMarked;
