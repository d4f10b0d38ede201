// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.frame.KvHead;

/// A request that is not answered yet.
///
/// @param request of whom
/// @param head of it
/// @param worker position of who asks among the workers
record Pending(IncomingRequest request, KvHead head, int worker) {}
