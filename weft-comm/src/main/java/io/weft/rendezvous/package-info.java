// SPDX-License-Identifier: Apache-2.0
/// The exchange of tensors between ranks by edge and step: a tensor is kept until its consumer
/// requests it. The `Send` and `Recv` operations of a distributed graph are built on it. Any
/// thread.
///
/// ```java
/// var edge = new Edge(0, 1, 1, "node:0"); // from rank 0 to rank 1
/// RendezvousKey key = RendezvousKey.of(edge, 7); // of step 7
/// if (weft.rank() == 0) {
///   weft.rendezvous().publish(key, tensor, () -> {}); // borrowed until the callback
/// } else {
///   weft.rendezvous()
///       .receive(
///           key,
///           Duration.ofSeconds(5),
///           arrival -> {
///             if (arrival instanceof Arrival.Live(TensorLease received)) {
///               received.close();
///             }
///           });
/// }
/// ```
@NullMarked
package io.weft.rendezvous;

import org.jspecify.annotations.NullMarked;
