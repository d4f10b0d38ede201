// SPDX-License-Identifier: Apache-2.0
/// Communication with a peer by small messages, remote reads and remote writes, with registered
/// memory and polling. A transport is confined to its polling thread.
@NullMarked
package io.weft.transport;

import org.jspecify.annotations.NullMarked;
