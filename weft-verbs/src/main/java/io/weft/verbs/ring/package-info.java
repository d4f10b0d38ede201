// SPDX-License-Identifier: Apache-2.0
/// The protocol of two ends of a queue pair in each other's rings (docs/protocol/verbs.md, Frames).
/// It converts posted operations to frames and work requests, and frames to completed writes,
/// messages, answers and offers. It needs no device, because a `Carrier` transfers the frames.
/// Polling thread only, except where noted.
@NullMarked
package io.weft.verbs.ring;

import org.jspecify.annotations.NullMarked;
