// SPDX-License-Identifier: Apache-2.0
/// Buffers between posting and the wire: rings of small frames, and segments of arrived messages.
/// Polling thread only.
@NullMarked
package io.weft.transport.ring;

import org.jspecify.annotations.NullMarked;
