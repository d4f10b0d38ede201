// SPDX-License-Identifier: Apache-2.0
/// Data-parallel training: the negotiation of gradients that are ready on all ranks, and their
/// fused reduction.
///
/// ```java
/// try (DataParallel parallel = DataParallel.open(weft)) {
///   Reducer reducer = parallel.reducer(weft.communicator());
///   Handle<TensorView> first = reducer.reduce("layer-1/kernel", tensor);
///   first.await(); // with the other tensors that are ready, in one fusion buffer
/// }
/// ```
@NullMarked
package io.weft.dataparallel;

import org.jspecify.annotations.NullMarked;
