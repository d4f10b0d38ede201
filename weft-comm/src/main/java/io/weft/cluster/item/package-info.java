// SPDX-License-Identifier: Apache-2.0
/// The parts that item-based services share: submissions of users, queues of items that are sent as
/// one message, the message format, and the memory for received payloads. The request channel and
/// the rendezvous are built on it (docs/protocol/channel.md).
@NullMarked
package io.weft.cluster.item;

import org.jspecify.annotations.NullMarked;
