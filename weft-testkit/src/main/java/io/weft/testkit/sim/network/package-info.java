// SPDX-License-Identifier: Apache-2.0
/// A network in virtual time: hosts, links between them, connections with TCP's guarantees and
/// failures, and the transport over it. All code runs on the thread that holds the scheduler.
@NullMarked
package io.weft.testkit.sim.network;

import org.jspecify.annotations.NullMarked;
