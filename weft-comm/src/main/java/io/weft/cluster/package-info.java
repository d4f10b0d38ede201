// SPDX-License-Identifier: Apache-2.0
/// The members of the job. The environment, the job's store, the topology and the process sets are
/// for user threads. The mesh with its services and tokens is confined to the progress thread.
///
/// ```java
/// var even = new ProcessSet(IntStream.range(0, weft.size()).filter(r -> r % 2 == 0).boxed().toList());
/// if (even.rankOf(weft.rank()) >= 0) {
///   weft.communicator(even).barrier(CollectiveOptions.named("even")).await();
/// }
/// String where = weft.topology().describe(0); // "rank 0 on node7"
/// weft.store().put("model", where.getBytes(StandardCharsets.UTF_8));
/// ```
@NullMarked
package io.weft.cluster;

import org.jspecify.annotations.NullMarked;
