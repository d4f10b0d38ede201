// SPDX-License-Identifier: Apache-2.0
/// The agreement of the survivors of a failure on the members of the next epoch. Everything runs on
/// the progress thread, except the call that starts it.
///
/// ```java
/// WeftConfig config = WeftConfig.builder().set(ElasticConfig.SHRINK_QUORUM, "majority").build();
/// try (Weft weft = Weft.init(config)) {
///   try {
///     weft.communicator().barrier(CollectiveOptions.named("step")).await();
///   } catch (CommException.PeerLost lost) {
///     Communicator survivors = weft.shrink(Duration.ofSeconds(30)); // waits for the other survivors
///     survivors.barrier(CollectiveOptions.named("step")).await();
///   }
/// }
/// ```
@NullMarked
package io.weft.cluster.elastic;

import org.jspecify.annotations.NullMarked;
