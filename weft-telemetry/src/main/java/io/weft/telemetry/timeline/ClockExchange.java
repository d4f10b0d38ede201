// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import io.weft.agent.Ticker;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The comparison of all ranks' clocks with that of rank 0 of a communicator by a few small
/// allgathers. Each carries its submission time and the completion time of the one before.
/// Stateless.
final class ClockExchange {

  private static final int ROUNDS = 8;
  private static final CollectiveOptions NAME = CollectiveOptions.named("weft-timeline/clock");

  private ClockExchange() {}

  /// Compares the clocks. Collective; waits. With one rank the offset is 0.
  static ClockSample compare(Communicator communicator, Ticker ticker) throws InterruptedException {
    if (communicator.size() == 1) {
      return new ClockSample(ticker.nanos(), 0, 0);
    }
    var bounds = new ClockBounds();
    long sent = 0;
    long received = 0;
    try (Arena arena = Arena.ofShared()) {
      MemorySegment mine = arena.allocate(2 * Long.BYTES, Long.BYTES);
      var view = new TensorView(DType.INT64, Shape.of(2), mine);
      for (int round = 0; round <= ROUNDS; round++) {
        long before = sent;
        sent = ticker.nanos();
        mine.setAtIndex(ValueLayout.JAVA_LONG, 0, sent);
        mine.setAtIndex(ValueLayout.JAVA_LONG, 1, received);
        try (TensorLease all = communicator.allgather(view, NAME).await()) {
          received = ticker.nanos();
          MemorySegment times = all.view().data();
          bounds.received(times.getAtIndex(ValueLayout.JAVA_LONG, 0), received);
          if (round > 0) {
            bounds.sent(before, times.getAtIndex(ValueLayout.JAVA_LONG, 1));
          }
        }
      }
    }
    return communicator.rank() == 0 ? new ClockSample(received, 0, 0) : bounds.sample(received);
  }
}
