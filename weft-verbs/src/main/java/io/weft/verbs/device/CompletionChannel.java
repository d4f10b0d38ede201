// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.weft.verbs.ffm.Descriptors;
import io.weft.verbs.ffm.ResourceCalls;
import io.weft.verbs.ffm.Structs;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// The channel that armed completion queues notify. Its descriptor is non-blocking. Thread-safe.
public final class CompletionChannel extends Owned {

  private final Device device;
  private final long address;
  private final int descriptor;

  private CompletionChannel(Device device, long address) {
    super(List.of(device));
    this.device = device;
    this.address = address;
    MemorySegment struct = ResourceCalls.struct(address, Structs.CHANNEL);
    new ResourceCheck(device.library().file(), "ibv_comp_channel", Structs.CHANNEL, struct)
        .holds("context", device.address())
        .atLeast("fd", 0);
    descriptor = struct.get(JAVA_INT, Structs.offset(Structs.CHANNEL, "fd"));
    VerbsException.check(Descriptors.unblock(descriptor), "make a completion channel non-blocking");
  }

  static CompletionChannel create(Device device) {
    ResourceCalls calls = device.library().resources();
    long address = calls.createChannel(device.address());
    if (address < 0) {
      throw new VerbsException(
          "create a completion channel on " + device.name(), (int) -address, "");
    }
    return take(() -> new CompletionChannel(device, address), () -> calls.destroyChannel(address));
  }

  /// Creates a completion queue for at least `completions` entries, which notifies this channel.
  /// Throws `VerbsException`.
  public CompletionQueue queue(int completions) {
    return whileOpen(() -> CompletionQueue.create(this, completions));
  }

  /// Returns the descriptor, which becomes readable when an armed queue has a completion.
  public int descriptor() {
    return descriptor;
  }

  /// Consumes all pending events and returns their count. Never waits.
  public int drain() {
    return whileOpen(this::take);
  }

  /// Drains as `drain` does, but also while the channel is closing.
  int take() {
    int events = 0;
    while (true) {
      long queue = device.library().resources().takeEvent(address);
      if (queue < 0) {
        return events;
      }
      // An unacknowledged event would make the destruction of its queue wait forever.
      device.library().resources().acknowledge(queue, 1);
      events++;
    }
  }

  Device device() {
    return device;
  }

  long address() {
    return address;
  }

  @Override
  void release() {
    VerbsException.check(device.library().resources().destroyChannel(address), "destroy " + this);
  }

  @Override
  public String toString() {
    return "a completion channel of " + device.name();
  }
}
