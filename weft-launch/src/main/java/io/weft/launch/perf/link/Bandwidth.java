// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.link;

import io.weft.launch.perf.rank.Tiles;
import java.lang.foreign.MemorySegment;

/// One way: rank 0 writes into registered memory of rank 1, whose word of the arrival ends the
/// iteration. Rank 0's memory is rewritten before, rank 1's compared after, untimed.
final class Bandwidth implements Exercise {

  private final Link link;
  private final Tiles tiles;
  private final PeerRegion region;
  private long landed;
  private boolean right = true;

  Bandwidth(Link link, Tiles tiles, long bytes) {
    this.link = link;
    this.tiles = tiles;
    region = new PeerRegion(link, bytes);
    link.heardBy(this);
    region.meet();
  }

  @Override
  public void message(MemorySegment message) {
    right &= region.hear(message);
  }

  @Override
  public void written(int immediate) {
    landed++;
  }

  @Override
  public long[] drive(long first, int iterations) {
    long[] nanos = new long[iterations];
    for (int i = 0; i < iterations; i++) {
      tiles.fill(region.memory(), 1, first + i);
      link.await(Signal.READY);
      long begin = System.nanoTime();
      region.write();
      link.await(Signal.ARRIVED);
      nanos[i] = System.nanoTime() - begin;
      region.flush();
    }
    return nanos;
  }

  @Override
  public void answer(long first, int iterations) {
    for (int i = 0; i < iterations; i++) {
      link.say(Signal.READY);
      link.until(() -> landed > 0);
      landed--;
      link.say(Signal.ARRIVED);
      long bytes = region.memory().byteSize();
      right &= tiles.same(region.memory(), 0, bytes, 1, first + i);
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
