// SPDX-License-Identifier: Apache-2.0
/// The peers of the parameter server: stores in Java, with client and server in separate processes.
/// `KvClient` is the client of one peer. `PeerLoop` makes the requests that Weft's worker makes.
@NullMarked
package io.weft.perf.peer;

import org.jspecify.annotations.NullMarked;
