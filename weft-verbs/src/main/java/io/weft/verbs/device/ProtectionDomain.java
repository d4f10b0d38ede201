// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import io.weft.verbs.ffm.ResourceCalls;
import io.weft.verbs.ffm.Structs;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// The domain of registered memory and queue pairs of a device, which work only within one domain.
/// Thread-safe.
public final class ProtectionDomain extends Owned {

  private final Device device;
  private final long address;
  // Written under the lock of the tree, which each call of the library holds.
  private volatile Registration.RegistrationCounts counts = Registration.RegistrationCounts.NONE;

  private ProtectionDomain(Device device, long address) {
    super(List.of(device));
    this.device = device;
    this.address = address;
    new ResourceCheck(
            device.library().file(),
            "ibv_pd",
            Structs.PD,
            ResourceCalls.struct(address, Structs.PD))
        .holds("context", device.address());
  }

  static ProtectionDomain allocate(Device device) {
    ResourceCalls calls = device.library().resources();
    long address = calls.allocatePd(device.address());
    if (address < 0) {
      throw new VerbsException(
          "allocate a protection domain on " + device.name(), (int) -address, "");
    }
    return take(() -> new ProtectionDomain(device, address), () -> calls.deallocatePd(address));
  }

  /// Registers native memory, which must outlive the registration, for local use and the given
  /// access by peers. It pins the pages, which costs a system call and time proportional to the
  /// length. Throws `VerbsException`.
  public Registration register(MemorySegment memory, Registration.Access access) {
    return whileOpen(() -> pin(memory, access));
  }

  private Registration pin(MemorySegment memory, Registration.Access access) {
    ResourceCalls calls = device.library().resources();
    long start = System.nanoTime();
    long mr = calls.register(address, memory, access.flags());
    counts = counts.registered(mr < 0 ? 0 : memory.byteSize(), System.nanoTime() - start);
    if (mr < 0) {
      int errno = (int) -mr;
      throw new VerbsException(
          "register " + memory.byteSize() + " bytes on " + device.name(),
          errno,
          VerbsException.isLimit(errno) ? MemoryLock.advice(memory.byteSize()) : "");
    }
    return take(() -> new Registration(this, memory, mr), () -> calls.deregister(mr));
  }

  /// Ends a registration; returns a negative errno if the device refused. Called under the tree's
  /// lock.
  int unpin(long mr, long bytes) {
    long start = System.nanoTime();
    int ended = device.library().resources().deregister(mr);
    counts = counts.deregistered(bytes, System.nanoTime() - start);
    return ended;
  }

  /// Returns the total cost of registrations with this domain, also after it is closed.
  public Registration.RegistrationCounts counts() {
    return counts;
  }

  /// Creates a queue of up to `receives` receives for any number of queue pairs, without posted
  /// receives. Throws `VerbsException`.
  public SharedReceiveQueue sharedReceiveQueue(int receives) {
    return whileOpen(() -> SharedReceiveQueue.create(this, receives));
  }

  /// Creates a reliable connected queue pair, not connected yet, that receives from the shared
  /// queue and completes to these completion queues. Throws `VerbsException`.
  public QueuePair queuePair(
      CompletionQueue sends,
      CompletionQueue receives,
      SharedReceiveQueue shared,
      QueuePairSettings settings) {
    return whileOpen(
        () ->
            sends.whileOpen(
                () ->
                    receives.whileOpen(
                        () ->
                            shared.whileOpen(
                                () -> QueuePair.create(this, sends, receives, shared, settings)))));
  }

  Device device() {
    return device;
  }

  long address() {
    return address;
  }

  @Override
  void release() {
    VerbsException.check(
        device.library().resources().deallocatePd(address),
        "give back a protection domain of " + device.name());
  }

  @Override
  public String toString() {
    return "a protection domain of " + device.name();
  }
}
