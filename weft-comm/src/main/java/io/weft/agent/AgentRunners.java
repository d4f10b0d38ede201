// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// The source of runners, executors and time: threads and the machine's clock, or a simulation and
/// its virtual clock. All layers above the transports take their time and their duty cycles from
/// here.
public interface AgentRunners {

  /// One daemon thread per progress thread, with the machine's monotonic clock.
  AgentRunners THREADS =
      new AgentRunners() {
        @Override
        public Ticker ticker() {
          return Ticker.SYSTEM;
        }

        @Override
        public AgentRunner runner(Agent agent, IdleStrategy own, IdleStrategy caller) {
          return new ThreadAgentRunner(agent, Ticker.SYSTEM, own, caller);
        }
      };

  /// The clock of all progress threads created here.
  Ticker ticker();

  /// Creates the runner of an agent, which it takes over. `AgentRunner.start` starts it.
  ///
  /// @param own the idle strategy of the progress thread
  /// @param caller the idle strategy of a caller that drives the agent
  AgentRunner runner(Agent agent, IdleStrategy own, IdleStrategy caller);

  /// Creates an executor for tasks that may block, such as writing files. It runs one task at a
  /// time, in their order, on a daemon thread of this name; in a simulation each task takes a duty
  /// cycle. The caller shuts it down.
  default ExecutorService executor(String name) {
    return Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name(name).factory());
  }
}
