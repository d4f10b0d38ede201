// SPDX-License-Identifier: Apache-2.0
/// Collectives over a process set, matched by name: the API of user threads and tools. The code
/// that executes collectives on the progress thread is in subpackages that are not exported.
///
/// ```java
/// Communicator all = weft.communicator();
/// all.broadcast(tensor, 0, CollectiveOptions.named("weights")).await();
/// try (TensorLease rows = all.allgather(tensor, CollectiveOptions.named("rows")).await()) {
///   long gathered = rows.view().shape().elements();
/// }
/// ```
@NullMarked
package io.weft.collective;

import org.jspecify.annotations.NullMarked;
