// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.verbs.ffm.Errno;
import io.weft.verbs.ffm.ResourceCalls;
import io.weft.verbs.ffm.Structs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// The posted receives of any number of queue pairs. The receives have no memory: each takes the
/// immediate value of one write, and the completion names the queue pair. A sender whose peer has
/// no receive posted tries again. Only one thread at a time may post.
public final class SharedReceiveQueue extends Owned {

  private static final int MAX_BATCH = 64;
  private static final long BYTES = Structs.RECV_WR.byteSize();
  private static final long NEXT = Structs.offset(Structs.RECV_WR, "next");
  // Some drivers return -1 instead of an errno.
  private static final int NO_ERRNO = 1;

  private final ProtectionDomain domain;
  private final long address;
  private final int capacity;
  private final Arena arena = Arena.ofShared();
  private final int batch;
  private final MemorySegment requests;
  private final MemorySegment bad = arena.allocate(JAVA_LONG);
  private final ReceiveRefill refill;

  private SharedReceiveQueue(ProtectionDomain domain, long address, int capacity) {
    super(List.of(domain));
    this.domain = domain;
    this.address = address;
    this.capacity = capacity;
    batch = Math.clamp(capacity / 4, 1, MAX_BATCH);
    requests = arena.allocate(Structs.RECV_WR, batch);
    refill = new ReceiveRefill(capacity, batch, this::post);
    new ResourceCheck(
            domain.device().library().file(),
            "ibv_srq",
            Structs.SRQ,
            ResourceCalls.struct(address, Structs.SRQ))
        .holds("context", domain.device().address())
        .holds("pd", domain.address());
    // The end of the chain serves as a shorter chain.
    for (int i = 0; i < batch - 1; i++) {
      requests.set(JAVA_LONG, BYTES * i + NEXT, requests.address() + BYTES * (i + 1));
    }
  }

  static SharedReceiveQueue create(ProtectionDomain domain, int receives) {
    Device device = domain.device();
    ResourceCalls calls = device.library().resources();
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment init = scratch.allocate(Structs.SRQ_INIT_ATTR);
      long most = Structs.offset(Structs.SRQ_INIT_ATTR, "max_wr");
      init.set(JAVA_INT, most, receives);
      init.set(JAVA_INT, Structs.offset(Structs.SRQ_INIT_ATTR, "max_sge"), 1);
      long address = calls.createSrq(domain.address(), init);
      if (address < 0) {
        throw new VerbsException(
            "create a shared receive queue of " + receives + " receives on " + device.name(),
            (int) -address,
            "the device allows "
                + device.limits().receiveQueues()
                + " such queues of "
                + device.limits().receives()
                + " receives");
      }
      int capacity = Math.max(receives, init.get(JAVA_INT, most));
      return take(
          () -> new SharedReceiveQueue(domain, address, capacity), () -> calls.destroySrq(address));
    }
  }

  /// Returns the number of receives that can be posted.
  public int capacity() {
    return capacity;
  }

  /// Posts receives until the queue is full; returns their number. Throws `VerbsException`.
  ///
  /// A queue that was filled before needs this after one of its queue pairs has ended, because the
  /// device may drop the completions of that queue pair.
  public int fill() {
    return refill.fill();
  }

  /// Counts receives of which the completions were polled, and posts them again in batches. Throws
  /// `VerbsException`.
  ///
  /// Hot path.
  public void consumed(int receives) {
    refill.consumed(receives);
  }

  /// Posts up to `wanted` receives; returns how many the queue has accepted.
  private int post(int wanted) {
    long first = BYTES * (batch - wanted);
    MemorySegment chain = first == 0 ? requests : requests.asSlice(first);
    int result = domain.device().dataPath().postReceive(address, chain, bad);
    if (result == 0) {
      return wanted;
    }
    if (result == -Errno.ENOMEM || result == -Errno.EAGAIN || result == -NO_ERRNO) {
      long accepted = (bad.get(JAVA_LONG, 0) - chain.address()) / BYTES;
      return Math.clamp(accepted, 0, wanted - 1);
    }
    throw new VerbsException("post to " + this, -result, "");
  }

  long address() {
    return address;
  }

  @Override
  void release() {
    int ended = domain.device().library().resources().destroySrq(address);
    arena.close();
    VerbsException.check(ended, "destroy " + this);
  }

  @Override
  public String toString() {
    return "the shared receive queue of " + domain.device().name();
  }
}
