// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.perf.rank.Tiles;

/// A one-way transfer: rank 0 writes into registered memory of rank 1. Rank 1's signal of the
/// arrival ends the iteration. Outside the timed part, rank 0 rewrites its memory before, and rank
/// 1 compares its memory after.
final class Bandwidth implements Exercise {

  private final PeerLink link;
  private final Tiles tiles;
  private final WriteTarget receiveBuffer;

  Bandwidth(PeerLink link, Tiles tiles, long bytes) {
    this.link = link;
    this.tiles = tiles;
    receiveBuffer = new WriteTarget(link, tiles, bytes);
  }

  @Override
  public long[] drive(long first, int iterations) {
    long[] nanos = new long[iterations];
    SlottedRegion region = receiveBuffer.region();
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
      receiveBuffer.await();
      link.say(Signal.ARRIVED);
      receiveBuffer.compare(first + i);
    }
  }

  @Override
  public boolean isRight() {
    return receiveBuffer.isRight();
  }

  @Override
  public void close() {
    receiveBuffer.close();
  }
}
