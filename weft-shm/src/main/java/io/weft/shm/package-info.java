// SPDX-License-Identifier: Apache-2.0
/// The transport between processes of one host, through memory that they share; between hosts it is
/// TCP (docs/protocol/shm.md). Confined to the thread that polls, except where a method says
/// otherwise.
@NullMarked
package io.weft.shm;

import org.jspecify.annotations.NullMarked;
