// SPDX-License-Identifier: Apache-2.0
/// Microbenchmarks of what lies on hot paths, for people who work on Weft. Each is a state with one
/// measured method; JMH runs it. `AllocationGate` in the tests holds them to what they may
/// allocate.
@NullMarked
package io.weft.bench;

import org.jspecify.annotations.NullMarked;
