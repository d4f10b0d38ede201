// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.link;

import io.weft.launch.perf.rank.Tiles;
import java.lang.foreign.MemorySegment;

/// Registered memory of this rank into which the peer writes one write after the other, each as
/// long as the memory; what has landed is counted and compared. Owned.
final class Landing implements Link.Ear, AutoCloseable {

  private final Link link;
  private final Tiles tiles;
  private final long bytes;
  private final PeerRegion region;
  private long landed;
  private boolean right = true;

  /// Waits until both ranks know where the other's memory is. Hears all that the peer says.
  Landing(Link link, Tiles tiles, long bytes) {
    this.link = link;
    this.tiles = tiles;
    this.bytes = bytes;
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

  /// The memory, and the way from it to the peer's.
  PeerRegion region() {
    return region;
  }

  /// Waits for the next write.
  void await() {
    link.until(() -> landed > 0);
    landed--;
  }

  /// Compares the memory with what iteration `t` writes.
  void compare(long t) {
    right &= tiles.same(region.memory(), 0, bytes, 1, t);
  }

  /// Whether all was.
  boolean isRight() {
    return right;
  }

  @Override
  public void close() {
    region.close();
  }
}
