// SPDX-License-Identifier: Apache-2.0
/// Requests between ranks and their replies (docs/protocol/channel.md). Requests are numbered and
/// ordered for each pair of ranks. Short payloads are sent in messages, long ones by remote reads
/// and writes. Requests have deadlines and back-pressure. Layers above the mesh that need more than
/// named tensors are built on this package.
@NullMarked
package io.weft.cluster.channel;

import org.jspecify.annotations.NullMarked;
