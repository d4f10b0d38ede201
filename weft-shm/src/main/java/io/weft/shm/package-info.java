// SPDX-License-Identifier: Apache-2.0
/// The transport between processes of one host through shared memory, with TCP between hosts
/// (docs/protocol/shm.md). Confined to the polling thread, except where a method says otherwise.
@NullMarked
package io.weft.shm;

import org.jspecify.annotations.NullMarked;
