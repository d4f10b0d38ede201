// SPDX-License-Identifier: Apache-2.0
/// The mutual proof that two processes belong to one job, common to all transports
/// (docs/protocol/tcp.md). The handshake is a state machine for each side, which a real or
/// simulated network supplies with bytes. It is pure computation except for the nonces. Polling
/// thread only.
@NullMarked
package io.weft.transport.secure;

import org.jspecify.annotations.NullMarked;
