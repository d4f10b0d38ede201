// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.perf.rank.Tiles;
import java.lang.foreign.MemorySegment;

/// Concurrent reads. Rank 0 keeps `outstanding` reads of rank 1's registered memory in flight. One
/// iteration is a batch of reads, until all data has arrived. Outside the timed part, rank 1
/// rewrites its memory before, and rank 0 compares its memory after.
final class Reads implements Exercise {

  private final PeerLink link;
  private final Tiles tiles;
  private final int batch;
  private final int slots;
  private final SlottedRegion region;
  private final InFlightWindow window;
  private boolean right = true;

  Reads(PeerLink link, Tiles tiles, long bytes, int outstanding, int batch) {
    this.link = link;
    this.tiles = tiles;
    this.batch = batch;
    slots = Writes.slots(bytes, batch);
    region = new SlottedRegion(link, bytes, slots);
    window = new InFlightWindow(link, Math.min(outstanding, batch));
    link.heardBy(this);
    region.meet();
  }

  @Override
  public void message(MemorySegment message) {
    right &= region.hear(message);
  }

  @Override
  public long[] drive(long first, int iterations) {
    long[] nanos = new long[iterations];
    InFlightWindow.Posting posting = (number, done) -> region.tryRead(number % slots, done);
    for (int i = 0; i < iterations; i++) {
      link.await(Signal.READY);
      long begin = System.nanoTime();
      window.run(batch, posting);
      nanos[i] = System.nanoTime() - begin;
      right &= tiles.same(region.memory(), 0, region.memory().byteSize(), 1, first + i);
      link.say(Signal.ARRIVED);
    }
    return nanos;
  }

  @Override
  public void answer(long first, int iterations) {
    for (int i = 0; i < iterations; i++) {
      tiles.fill(region.memory(), 1, first + i);
      link.say(Signal.READY);
      link.await(Signal.ARRIVED);
    }
  }

  @Override
  public boolean isRight() {
    return right;
  }

  @Override
  public void close() {
    region.close();
  }
}
