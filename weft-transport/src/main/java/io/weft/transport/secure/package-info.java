// SPDX-License-Identifier: Apache-2.0
/// The mutual proof that two processes belong to one job, the same on every transport
/// (docs/protocol/tcp.md): the handshake as a state machine for either side, which a real or a
/// simulated network feeds with bytes. Pure computation but for the nonces; polling thread.
@NullMarked
package io.weft.transport.secure;

import org.jspecify.annotations.NullMarked;
