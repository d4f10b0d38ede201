// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.perf.rank.Tiles;
import java.lang.foreign.MemorySegment;

/// Registered memory of this rank into which the peer writes one write after the other, each as
/// long as the memory; what has landed is counted and compared. Owned.
final class WriteTarget implements PeerLink.Ear, AutoCloseable {

  private final PeerLink link;
  private final Tiles tiles;
  private final long bytes;
  private final SlottedRegion region;
  private long landed;
  private boolean right = true;

  /// Waits until both ranks know where the other's memory is. Hears all that the peer says.
  WriteTarget(PeerLink link, Tiles tiles, long bytes) {
    this.link = link;
    this.tiles = tiles;
    this.bytes = bytes;
    region = new SlottedRegion(link, bytes);
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
  SlottedRegion region() {
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
