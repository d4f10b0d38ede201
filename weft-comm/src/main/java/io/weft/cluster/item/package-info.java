// SPDX-License-Identifier: Apache-2.0
/// What services that speak in items share: submissions of users, items that wait for a peer and
/// leave as one message, the form of these messages, and the memory where payloads arrive. The
/// request channel and the rendezvous stand on it (docs/protocol/channel.md).
@NullMarked
package io.weft.cluster.item;

import org.jspecify.annotations.NullMarked;
