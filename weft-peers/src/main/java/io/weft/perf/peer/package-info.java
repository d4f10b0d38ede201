// SPDX-License-Identifier: Apache-2.0
/// Peers of the parameter server: what a Java shop would take for the same, client and server in
/// processes of their own. `KvClient` is one peer's client, `PeerLoop` asks it for what Weft's
/// worker asks.
@NullMarked
package io.weft.perf.peer;

import org.jspecify.annotations.NullMarked;
