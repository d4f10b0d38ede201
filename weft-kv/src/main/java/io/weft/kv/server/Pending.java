// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.frame.KvHead;

/// A request that is not answered yet.
///
/// @param request the worker's request
/// @param head of the request
/// @param worker position of the requester among the workers
record Pending(IncomingRequest request, KvHead head, int worker) {}
