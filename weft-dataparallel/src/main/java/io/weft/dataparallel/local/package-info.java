// SPDX-License-Identifier: Apache-2.0
/// Local SGD with an outer optimizer, for slow networks: ranks train by themselves and periodically
/// exchange the change of their weights.
///
/// ```java
/// SequencedMap<String, TensorView> weights = new LinkedHashMap<>(Map.of("kernel", tensor));
/// var local = new LocalSgd(weft.communicator(), LocalSgdOptions.every(50).inBits(8), weights);
/// for (int step = 0; step < 1_000; step++) {
///   // The program trains on its own batch here.
///   local.step();
/// }
/// local.synchronize(); // all ranks then have equal weights
/// ```
@NullMarked
package io.weft.dataparallel.local;

import org.jspecify.annotations.NullMarked;
