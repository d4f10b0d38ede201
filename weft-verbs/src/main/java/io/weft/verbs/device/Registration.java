// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.weft.verbs.ffm.ResourceCalls;
import io.weft.verbs.ffm.Structs;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// Registered memory that a device may access. Each posted work request claims it. It cannot be
/// closed before all claims are settled, except with its domain, which closes queue pairs first.
/// Thread-safe.
public final class Registration extends Owned {

  private final ProtectionDomain domain;
  private final MemorySegment memory;
  private final long address;
  private final int localKey;
  private final int remoteKey;
  private final AtomicInteger posted = new AtomicInteger();

  /// The permitted access to registered memory.
  public enum Access {
    /// Only this side may access the memory.
    LOCAL(1),
    /// Peers may read and write the memory.
    REMOTE(1 | 2 | 4),
    /// Peers may read and write the memory, also by atomic operations.
    REMOTE_ATOMIC(1 | 2 | 4 | 8);

    private final int flags;

    Access(int flags) {
      this.flags = flags;
    }

    int flags() {
      return flags;
    }
  }

  /// The cost of registrations.
  ///
  /// @param registrations calls of `ibv_reg_mr`
  /// @param registeredBytes sum over successful registrations
  /// @param registeringNanos time in these calls
  /// @param deregistrations calls of `ibv_dereg_mr`
  /// @param deregisteredBytes sum over deregistrations
  /// @param deregisteringNanos time in these calls
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

    /// Returns the cost since `earlier`.
    public RegistrationCounts since(RegistrationCounts earlier) {
      return new RegistrationCounts(
          registrations - earlier.registrations,
          registeredBytes - earlier.registeredBytes,
          registeringNanos - earlier.registeringNanos,
          deregistrations - earlier.deregistrations,
          deregisteredBytes - earlier.deregisteredBytes,
          deregisteringNanos - earlier.deregisteringNanos);
    }

    /// Returns the time in both kinds of calls.
    public long nanos() {
      return registeringNanos + deregisteringNanos;
    }

    /// Returns the currently registered bytes.
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

  /// Returns the registered memory.
  public MemorySegment memory() {
    return memory;
  }

  /// Returns the key that a peer needs to access the memory.
  public int remoteKey() {
    return remoteKey;
  }

  int localKey() {
    return localKey;
  }

  /// Counts a work request that uses the memory. Posting calls it.
  ///
  /// Hot path.
  void claim() {
    posted.getAndIncrement();
  }

  /// Counts a work request as ended: its completion was polled, or its queue pair is closed.
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
