// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

/// Where agents run and what time it is there: on threads by the machine's clock, or in a
/// simulation by a virtual one. Everything above the transports gets its time and its turns from
/// here.
public interface Lanes {

  /// A daemon thread per lane; the machine's monotonic clock.
  Lanes THREADS =
      new Lanes() {
        @Override
        public Ticker ticker() {
          return Ticker.SYSTEM;
        }

        @Override
        public Lane lane(Agent agent, WaitPolicy own, WaitPolicy caller) {
          return new ThreadLane(agent, Ticker.SYSTEM, own, caller);
        }
      };

  /// The clock of all lanes made here.
  Ticker ticker();

  /// Takes the agent over; `Lane.start` begins.
  ///
  /// @param own how the lane's own thread waits
  /// @param caller how a caller waits that turns the agent itself
  Lane lane(Agent agent, WaitPolicy own, WaitPolicy caller);
}
