// SPDX-License-Identifier: Apache-2.0
/// The RDMA transport with the scheme `verbs`. Its endpoints negotiate over TCP and then use queue
/// pairs (docs/protocol/verbs.md). Polling thread only, except where noted.
@NullMarked
package io.weft.verbs;

import org.jspecify.annotations.NullMarked;
