// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.perf.rank.Tiles;
import java.lang.foreign.MemorySegment;

/// Registered memory of this rank into which the peer writes sequentially. Each write fills the
/// memory. The writes are counted and their data compared. The caller owns the object.
final class WriteTarget implements PeerLink.Ear, AutoCloseable {

  private final PeerLink link;
  private final Tiles tiles;
  private final long bytes;
  private final SlottedRegion region;
  private long landed;
  private boolean right = true;

  /// Waits until each rank knows the other's memory. Receives all messages and writes of the peer.
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

  /// Returns the memory and its counterpart on the peer.
  SlottedRegion region() {
    return region;
  }

  /// Waits for the next write.
  void await() {
    link.until(() -> landed > 0);
    landed--;
  }

  /// Compares the memory with the data of iteration `t`.
  void compare(long t) {
    right &= tiles.same(region.memory(), 0, bytes, 1, t);
  }

  /// Returns whether all compared data was right.
  boolean isRight() {
    return right;
  }

  @Override
  public void close() {
    region.close();
  }
}
