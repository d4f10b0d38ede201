// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.perf.rank.Tiles;
import java.lang.foreign.MemorySegment;

/// Concurrent one-way transfers. Rank 0 keeps `outstanding` writes into rank 1's registered memory
/// in flight. One iteration is a batch of writes and ends with rank 1's signal that all have
/// arrived. Outside the timed part, rank 0 rewrites its memory before, and rank 1 compares its
/// memory after. Each write carries its number.
final class Writes implements Exercise {

  /// The size of the memory whose slots the writes of a batch use in turn.
  static final long REGION_BYTES = 64L << 20;

  private final PeerLink link;
  private final Tiles tiles;
  private final int batch;
  private final int slots;
  private final SlottedRegion region;
  private final InFlightWindow window;
  private int landed;
  private boolean right = true;

  Writes(PeerLink link, Tiles tiles, long bytes, int outstanding, int batch) {
    this.link = link;
    this.tiles = tiles;
    this.batch = batch;
    slots = slots(bytes, batch);
    region = new SlottedRegion(link, bytes, slots);
    window = new InFlightWindow(link, Math.min(outstanding, batch));
    link.heardBy(this);
    region.meet();
  }

  /// Returns the number of slots: one for each operation of a batch, fewer if `REGION_BYTES` is
  /// short.
  static int slots(long bytes, int batch) {
    return Math.clamp(REGION_BYTES / bytes, 1, batch);
  }

  @Override
  public void message(MemorySegment message) {
    right &= region.hear(message);
  }

  @Override
  public void written(int immediate) {
    right &= immediate == landed;
    landed++;
  }

  @Override
  public long[] drive(long first, int iterations) {
    long[] nanos = new long[iterations];
    InFlightWindow.Posting posting =
        (number, done) -> region.tryWrite(number % slots, number, done);
    for (int i = 0; i < iterations; i++) {
      tiles.fill(region.memory(), 1, first + i);
      link.await(Signal.READY);
      long begin = System.nanoTime();
      window.run(batch, posting);
      link.await(Signal.ARRIVED);
      nanos[i] = System.nanoTime() - begin;
    }
    return nanos;
  }

  @Override
  public void answer(long first, int iterations) {
    for (int i = 0; i < iterations; i++) {
      landed = 0;
      link.say(Signal.READY);
      link.until(() -> landed == batch);
      link.say(Signal.ARRIVED);
      right &= tiles.same(region.memory(), 0, region.memory().byteSize(), 1, first + i);
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
