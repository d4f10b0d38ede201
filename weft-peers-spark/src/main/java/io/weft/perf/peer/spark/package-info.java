// SPDX-License-Identifier: Apache-2.0
/// The peer `spark` of `weft perf allreduce`: `treeAggregate` over executors of this host.
/// `SparkPeer` starts `TreeAggregate`, the driver.
@NullMarked
package io.weft.perf.peer.spark;

import org.jspecify.annotations.NullMarked;
