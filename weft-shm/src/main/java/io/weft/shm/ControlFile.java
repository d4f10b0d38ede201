// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// This process's own control file: what peers must know of its regions, and its doorbell. Any
/// thread.
final class ControlFile implements AutoCloseable {

  private final String name;
  private final MemoryFile file;

  /// A file whose name begins with `prefix`. Throws `IOException` with the reason.
  ControlFile(String prefix) throws IOException {
    name = prefix + "control";
    file = MemoryFile.create(name, Layout.CONTROL_BYTES, Arena.ofAuto());
  }

  static MemorySegment ofPeer(long process, int descriptor, String prefix) throws IOException {
    return MemoryFile.open(
        process, descriptor, prefix + "control", Layout.CONTROL_BYTES, Arena.ofAuto());
  }

  int descriptor() {
    return file.descriptor();
  }

  MemorySegment memory() {
    return file.memory();
  }

  /// Shows a region that lies at `offset` of an extent.
  void show(int key, Extent extent, long offset, long bytes) {
    MemorySegment memory = file.memory();
    long slot = Layout.slot(key);
    memory.set(ValueLayout.JAVA_INT, slot + Layout.SLOT_EXTENT, extent.number());
    memory.set(ValueLayout.JAVA_INT, slot + Layout.SLOT_FILE, extent.descriptor());
    memory.set(ValueLayout.JAVA_LONG, slot + Layout.SLOT_OFFSET, offset);
    memory.set(ValueLayout.JAVA_LONG, slot + Layout.SLOT_LENGTH, bytes);
    memory.set(ValueLayout.JAVA_LONG, slot + Layout.SLOT_EXTENT_BYTES, extent.bytes());
    state(key, Layout.OPEN | Integer.toUnsignedLong(key));
  }

  /// Shows a region that peers cannot map.
  void showPrivate(int key) {
    file.memory().set(ValueLayout.JAVA_INT, Layout.slot(key) + Layout.SLOT_EXTENT, -1);
    state(key, Layout.OPEN | Integer.toUnsignedLong(key));
  }

  /// No visit of this region begins any more; those that have begun can be seen afterwards.
  void hide(int key) {
    state(key, Integer.toUnsignedLong(key));
    // Pairs with the claim in PeerRegion.visit: either it sees this or we see the claim.
    VarHandle.fullFence();
  }

  private void state(int key, long state) {
    Layout.LONG.setRelease(file.memory(), Layout.slot(key) + Layout.SLOT_STATE, state);
  }

  /// Peers that have not mapped it cannot do so any more.
  @Override
  public void close() {
    file.closeDescriptor();
  }
}
