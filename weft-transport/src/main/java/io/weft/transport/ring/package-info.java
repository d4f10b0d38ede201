// SPDX-License-Identifier: Apache-2.0
/// Bytes between posting and the wire: rings of small frames, and arrived messages as segments.
/// Polling thread only.
@NullMarked
package io.weft.transport.ring;

import org.jspecify.annotations.NullMarked;
