// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// This process's control file, which describes its regions to peers and contains its doorbell.
/// Thread-safe.
final class ControlFile implements AutoCloseable {

  private final String name;
  private final MemoryFile file;

  /// Creates a file whose name begins with `prefix`. Throws `IOException` with the reason.
  ControlFile(String prefix) throws IOException {
    name = prefix + "control";
    file = MemoryFile.create(name, ControlLayout.CONTROL_BYTES, Arena.ofAuto());
  }

  static MemorySegment ofPeer(long process, int descriptor, String prefix) throws IOException {
    return MemoryFile.open(
        process, descriptor, prefix + "control", ControlLayout.CONTROL_BYTES, Arena.ofAuto());
  }

  int descriptor() {
    return file.descriptor();
  }

  MemorySegment memory() {
    return file.memory();
  }

  /// Publishes a region that lies at `offset` of an extent.
  void show(int key, Extent extent, long offset, long bytes) {
    MemorySegment memory = file.memory();
    long slot = ControlLayout.slot(key);
    memory.set(ValueLayout.JAVA_INT, slot + ControlLayout.SLOT_EXTENT, extent.number());
    memory.set(ValueLayout.JAVA_INT, slot + ControlLayout.SLOT_FILE, extent.descriptor());
    memory.set(ValueLayout.JAVA_LONG, slot + ControlLayout.SLOT_OFFSET, offset);
    memory.set(ValueLayout.JAVA_LONG, slot + ControlLayout.SLOT_LENGTH, bytes);
    memory.set(ValueLayout.JAVA_LONG, slot + ControlLayout.SLOT_EXTENT_BYTES, extent.bytes());
    state(key, ControlLayout.OPEN | Integer.toUnsignedLong(key));
  }

  /// Publishes a region that peers cannot map.
  void showPrivate(int key) {
    file.memory()
        .set(ValueLayout.JAVA_INT, ControlLayout.slot(key) + ControlLayout.SLOT_EXTENT, -1);
    state(key, ControlLayout.OPEN | Integer.toUnsignedLong(key));
  }

  /// Prevents further visits of this region; visits that have begun are visible afterwards.
  void hide(int key) {
    state(key, Integer.toUnsignedLong(key));
    // Pairs with the claim in PeerRegion.visit: either it sees this or this thread sees the claim.
    VarHandle.fullFence();
  }

  private void state(int key, long state) {
    ControlLayout.LONG.setRelease(
        file.memory(), ControlLayout.slot(key) + ControlLayout.SLOT_STATE, state);
  }

  /// Prevents peers that have not mapped the file from mapping it.
  @Override
  public void close() {
    file.closeDescriptor();
  }
}
