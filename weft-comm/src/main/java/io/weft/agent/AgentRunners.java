// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

/// Where agents run and what time it is there: on threads by the machine's clock, or in a
/// simulation by a virtual one. Everything above the transports gets its time and its turns from
/// here.
public interface AgentRunners {

  /// A daemon thread per progress thread; the machine's monotonic clock.
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

  /// The clock of all progress threads made here.
  Ticker ticker();

  /// Takes the agent over; `AgentRunner.start` begins.
  ///
  /// @param own how the progress thread itself waits
  /// @param caller how a caller waits that turns the agent itself
  AgentRunner runner(Agent agent, IdleStrategy own, IdleStrategy caller);
}
