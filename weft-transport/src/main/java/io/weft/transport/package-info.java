// SPDX-License-Identifier: Apache-2.0
/// Three verbs to a peer (small message, remote read, remote write), registered memory, and
/// polling. A transport is confined to the one thread that polls it.
@NullMarked
package io.weft.transport;

import org.jspecify.annotations.NullMarked;
