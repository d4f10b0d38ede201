// SPDX-License-Identifier: Apache-2.0
/// Duty cycles and the threads that run them. An agent runs on one thread at a time.
///
/// ```java
/// Handle<Void> barrier = weft.communicator().barrier(CollectiveOptions.named("end"));
/// AgentRunner runner = weft.channel().runner();
/// boolean alone = runner.drive(barrier::isDone, runner.nanos() + 1_000_000); // at most 1 ms
/// // Returns false if another thread runs the agent; the caller then waits.
/// barrier.await(Duration.ofSeconds(10));
/// ```
@NullMarked
package io.weft.agent;

import org.jspecify.annotations.NullMarked;
