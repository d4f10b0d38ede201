// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.perf.rank.Tiles;
import java.lang.foreign.MemorySegment;

/// Half of the round trip between the ranks. Rank 0 sends data and rank 1 sends it back. The data
/// travels in a message if the transport allows that length, else by a remote write. Rank 0
/// compares the returned data outside the timed part.
final class PingPong implements Exercise {

  private final PeerLink link;
  private final Tiles tiles;
  private final boolean asMessage;
  private final SlottedRegion region;
  private long arrived;
  private boolean right = true;

  PingPong(PeerLink link, Tiles tiles, long bytes) {
    this.link = link;
    this.tiles = tiles;
    asMessage = bytes <= link.transport().capabilities().maxMessageBytes();
    region = new SlottedRegion(link, bytes);
    link.heardBy(this);
    region.meet();
  }

  @Override
  public void message(MemorySegment message) {
    if (!region.hear(message)) {
      right &= message.byteSize() == region.memory().byteSize();
      MemorySegment.copy(message, 0, region.memory(), 0, message.byteSize());
      arrived++;
    }
  }

  @Override
  public void written(int immediate) {
    arrived++;
  }

  @Override
  public long[] drive(long first, int iterations) {
    long[] nanos = new long[iterations];
    long bytes = region.memory().byteSize();
    for (int i = 0; i < iterations; i++) {
      region.flush();
      tiles.fill(region.memory(), 1, first + i);
      long begin = System.nanoTime();
      send();
      receive();
      nanos[i] = (System.nanoTime() - begin) / 2;
      right &= tiles.same(region.memory(), 0, bytes, 1, first + i);
    }
    return nanos;
  }

  @Override
  public void answer(long first, int iterations) {
    for (int i = 0; i < iterations; i++) {
      receive();
      region.flush();
      send();
    }
  }

  private void send() {
    if (asMessage) {
      link.send(region.memory());
    } else {
      region.write();
    }
  }

  private void receive() {
    link.until(() -> arrived > 0);
    arrived--;
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
