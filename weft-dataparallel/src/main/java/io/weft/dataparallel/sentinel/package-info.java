// SPDX-License-Identifier: Apache-2.0
/// The detection of ranks whose weights differ, with tensor and step.
///
/// ```java
/// SequencedMap<String, TensorView> weights = new LinkedHashMap<>(Map.of("kernel", tensor));
/// var sentinel =
///     new DivergenceSentinel(weft.communicator(), 100, DivergencePolicy.HEAL, weights);
/// Optional<Divergence> difference = sentinel.step(); // compares at every 100th step
/// ```
@NullMarked
package io.weft.dataparallel.sentinel;

import org.jspecify.annotations.NullMarked;
