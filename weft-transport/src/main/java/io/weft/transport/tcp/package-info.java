// SPDX-License-Identifier: Apache-2.0
/// The TCP transport: non-blocking sockets on direct memory, one frame format for all verbs
/// (docs/protocol/tcp.md). Everything here is confined to the thread that polls.
@NullMarked
package io.weft.transport.tcp;

import org.jspecify.annotations.NullMarked;
