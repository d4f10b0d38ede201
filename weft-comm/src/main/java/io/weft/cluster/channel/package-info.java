// SPDX-License-Identifier: Apache-2.0
/// Requests between ranks and their replies (docs/protocol/channel.md): numbered, in order from
/// each to each, with payloads that travel in messages, are read or are written, with deadlines and
/// back-pressure. What layers above the mesh build on that need more than tensors by name.
@NullMarked
package io.weft.cluster.channel;

import org.jspecify.annotations.NullMarked;
