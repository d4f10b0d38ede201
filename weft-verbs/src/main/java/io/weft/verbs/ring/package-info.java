// SPDX-License-Identifier: Apache-2.0
/// What two ends of a queue pair write into each other's rings, and what they make of it
/// (docs/protocol/verbs.md, Frames): posted operations become frames and work requests, frames
/// become landed writes, messages, answers and offers. Needs no device: a `Carrier` brings it to
/// the peer. Polling thread only, where nothing else is said.
@NullMarked
package io.weft.verbs.ring;

import org.jspecify.annotations.NullMarked;
