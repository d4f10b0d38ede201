// SPDX-License-Identifier: Apache-2.0
/// Microbenchmarks of hot paths for developers of Weft. Each is a state with measured methods,
/// which JMH runs. `AllocationGateTest` limits their allocations.
@NullMarked
package io.weft.bench;

import org.jspecify.annotations.NullMarked;
