// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.weft.verbs.ffm.ResourceCalls;
import io.weft.verbs.ffm.Structs;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// Memory that a device may access. Each posted work request claims it; it cannot be closed before
/// all of them are settled, except with its domain, after whose queue pairs. Any thread.
public final class Registration extends Owned {

  private final ProtectionDomain domain;
  private final MemorySegment memory;
  private final long address;
  private final int localKey;
  private final int remoteKey;
  private final AtomicInteger posted = new AtomicInteger();

  /// What may be done with registered memory.
  public enum Access {
    /// This side only.
    LOCAL(1),
    /// Peers may read and write.
    REMOTE(1 | 2 | 4),
    /// Peers may read, write and change it by atomic operations.
    REMOTE_ATOMIC(1 | 2 | 4 | 8);

    private final int flags;

    Access(int flags) {
      this.flags = flags;
    }

    int flags() {
      return flags;
    }
  }

  /// What registering memory has cost.
  ///
  /// @param registrations calls of `ibv_reg_mr`
  /// @param registeredBytes of those that succeeded, together
  /// @param registeringNanos that they took
  /// @param deregistrations calls of `ibv_dereg_mr`
  /// @param deregisteredBytes together
  /// @param deregisteringNanos that they took
  public record RegistrationCounts(
      long registrations,
      long registeredBytes,
      long registeringNanos,
      long deregistrations,
      long deregisteredBytes,
      long deregisteringNanos) {

    static final RegistrationCounts NONE = new RegistrationCounts(0, 0, 0, 0, 0, 0);

    RegistrationCounts registered(long bytes, long nanos) {
      return new RegistrationCounts(
          registrations + 1,
          registeredBytes + bytes,
          registeringNanos + nanos,
          deregistrations,
          deregisteredBytes,
          deregisteringNanos);
    }

    RegistrationCounts deregistered(long bytes, long nanos) {
      return new RegistrationCounts(
          registrations,
          registeredBytes,
          registeringNanos,
          deregistrations + 1,
          deregisteredBytes + bytes,
          deregisteringNanos + nanos);
    }

    /// What has been counted since `earlier`.
    public RegistrationCounts since(RegistrationCounts earlier) {
      return new RegistrationCounts(
          registrations - earlier.registrations,
          registeredBytes - earlier.registeredBytes,
          registeringNanos - earlier.registeringNanos,
          deregistrations - earlier.deregistrations,
          deregisteredBytes - earlier.deregisteredBytes,
          deregisteringNanos - earlier.deregisteringNanos);
    }

    /// Time in both kinds of calls.
    public long nanos() {
      return registeringNanos + deregisteringNanos;
    }

    /// What is registered now.
    public long pinnedBytes() {
      return registeredBytes - deregisteredBytes;
    }
  }

  Registration(ProtectionDomain domain, MemorySegment memory, long address) {
    super(List.of(domain));
    this.domain = domain;
    this.memory = memory;
    this.address = address;
    MemorySegment struct = ResourceCalls.struct(address, Structs.MR);
    new ResourceCheck(domain.device().library().file(), "ibv_mr", Structs.MR, struct)
        .holds("context", domain.device().address())
        .holds("pd", domain.address())
        .holds("addr", memory.address())
        .holds("length", memory.byteSize());
    localKey = struct.get(JAVA_INT, Structs.offset(Structs.MR, "lkey"));
    remoteKey = struct.get(JAVA_INT, Structs.offset(Structs.MR, "rkey"));
  }

  /// What is registered.
  public MemorySegment memory() {
    return memory;
  }

  /// The permission that a peer needs.
  public int remoteKey() {
    return remoteKey;
  }

  int localKey() {
    return localKey;
  }

  /// One more work request uses it. Posting does this.
  ///
  /// Hot path.
  void claim() {
    posted.getAndIncrement();
  }

  /// A work request that was posted with it has ended: its completion was polled, or its queue pair
  /// is closed.
  ///
  /// Hot path.
  public void settle() {
    posted.getAndDecrement();
  }

  @Override
  void mayClose() {
    int work = posted.get();
    if (work > 0) {
      throw new IllegalStateException(
          this + " still has " + work + " posted operations; close it when they are done");
    }
  }

  @Override
  void release() {
    VerbsException.check(domain.unpin(address, memory.byteSize()), "deregister " + this);
  }

  @Override
  public String toString() {
    return "registered memory of " + memory.byteSize() + " bytes on " + domain.device().name();
  }
}
