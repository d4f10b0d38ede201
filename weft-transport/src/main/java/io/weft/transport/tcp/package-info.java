// SPDX-License-Identifier: Apache-2.0
/// The TCP transport: non-blocking sockets on direct memory, with one frame format for all
/// operations (docs/protocol/tcp.md). The package is confined to the polling thread.
@NullMarked
package io.weft.transport.tcp;

import org.jspecify.annotations.NullMarked;
