// SPDX-License-Identifier: Apache-2.0
/// RDMA as a transport, found by its scheme `verbs`: endpoints that meet over TCP and go on over
/// queue pairs (docs/protocol/verbs.md). Polling thread only, where nothing else is said.
@NullMarked
package io.weft.verbs;

import org.jspecify.annotations.NullMarked;
