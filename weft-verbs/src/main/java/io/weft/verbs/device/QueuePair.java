// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.verbs.ffm.ResourceCalls;
import io.weft.verbs.ffm.Structs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A reliable connected queue pair, which executes posted sends in order and receives from a shared
/// receive queue. The `try…` methods return false if the queue is full. Only one thread at a time
/// may post.
public final class QueuePair extends Owned {

  private static final int RELIABLE_CONNECTED = 2;

  private final ProtectionDomain domain;
  private final QueuePairSettings settings;
  private final long address;
  private final int number;
  private final int inlineBytes;
  private final QueuePairStates states;
  private final Arena arena = Arena.ofShared();
  private final WorkRequests requests;

  private QueuePair(
      ProtectionDomain domain,
      List<Owned> owners,
      QueuePairSettings settings,
      long address,
      int inlineBytes) {
    super(owners);
    this.domain = domain;
    this.settings = settings;
    this.address = address;
    this.inlineBytes = inlineBytes;
    number =
        ResourceCalls.struct(address, Structs.QP)
            .get(JAVA_INT, Structs.offset(Structs.QP, "qp_num"));
    states = new QueuePairStates(domain.device(), address);
    requests = new WorkRequests(domain.device().dataPath(), address, arena);
  }

  static QueuePair create(
      ProtectionDomain domain,
      CompletionQueue sends,
      CompletionQueue receives,
      SharedReceiveQueue shared,
      QueuePairSettings settings) {
    Device device = domain.device();
    ResourceCalls calls = device.library().resources();
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment init = scratch.allocate(Structs.QP_INIT_ATTR);
      init.set(JAVA_LONG, initial("send_cq"), sends.address());
      init.set(JAVA_LONG, initial("recv_cq"), receives.address());
      init.set(JAVA_LONG, initial("srq"), shared.address());
      init.set(JAVA_INT, initial("max_send_wr"), settings.sends());
      init.set(JAVA_INT, initial("max_send_sge"), WorkRequests.PARTS);
      init.set(JAVA_INT, initial("max_inline_data"), settings.inlineBytes());
      init.set(JAVA_INT, initial("qp_type"), RELIABLE_CONNECTED);
      long address = calls.createQp(domain.address(), init);
      if (address < 0) {
        throw new VerbsException(
            "create a queue pair with a queue of "
                + settings.sends()
                + " requests and "
                + settings.inlineBytes()
                + " inline bytes on "
                + device.name(),
            (int) -address,
            "the device allows "
                + device.limits().workRequests()
                + " requests and "
                + device.limits().queuePairs()
                + " queue pairs");
      }
      try {
        new ResourceCheck(
                device.library().file(),
                "ibv_qp",
                Structs.QP,
                ResourceCalls.struct(address, Structs.QP))
            .holds("context", device.address())
            .holds("pd", domain.address())
            .holds("send_cq", sends.address())
            .holds("recv_cq", receives.address())
            .holds("srq", shared.address())
            .holds("state", 0)
            .holds("qp_type", RELIABLE_CONNECTED);
        QueuePair pair =
            new QueuePair(
                domain,
                List.of(domain, sends, receives, shared),
                settings,
                address,
                init.get(JAVA_INT, initial("max_inline_data")));
        pair.enter();
        return pair;
      } catch (RuntimeException e) {
        var unused = calls.destroyQp(address);
        throw e;
      }
    }
  }

  private static long initial(String field) {
    return Structs.offset(Structs.QP_INIT_ATTR, field);
  }

  /// Returns the number on this device.
  public int number() {
    return number;
  }

  /// Returns whether the event concerns this queue pair.
  public boolean isMeantBy(AsyncEvent event) {
    return event.kind() == AsyncEvent.DeviceEventKind.QUEUE_PAIR_FAILED
        && event.element() == address;
  }

  /// Returns the largest payload for `Flag.INLINE`.
  public int inlineBytes() {
    return inlineBytes;
  }

  /// Initializes the queue pair on this port. Throws `VerbsException`.
  public void initialize(Port port) {
    whileOpen(
        () -> {
          states.initialize(port);
          return this;
        });
  }

  /// Connects the queue pair to a peer's; afterwards it may receive and send. Throws
  /// `VerbsException`.
  ///
  /// @param own the address that was sent to the peer
  public void connect(Port port, QueuePairAddress own, QueuePairAddress peer) {
    int reads = Math.min(domain.device().limits().readsAtOnce(), QueuePairStates.MAX_READS);
    whileOpen(
        () -> {
          states.receive(port, own, peer, settings.receiverWait(), reads);
          states.send(own, settings, reads);
          return this;
        });
  }

  /// Ends all work at once: posted requests complete as flushed. Thread-safe.
  public void fail() {
    whileOpen(
        () -> {
          states.fail();
          return this;
        });
  }

  /// Options of a request, combined by or.
  public static final class Flag {
    /// No options: the request completes only if it fails.
    public static final int NONE = 0;

    /// The request waits for all earlier reads.
    public static final int FENCE = 1;

    /// The request generates a completion.
    public static final int SIGNALED = 2;

    /// Posting copies the payload, which need not be registered.
    public static final int INLINE = 8;

    private Flag() {}
  }

  /// Writes into the peer's memory.
  ///
  /// Hot path.
  public boolean tryWrite(
      long id, int flags, Registration from, long offset, int bytes, long remote, int key) {
    return requests.local(id, flags, from, offset, bytes) && requests.write(remote, key);
  }

  /// Adds memory to the next request, which the device sends after the request's own memory. The
  /// caller settles the claim on the registration with the request's.
  ///
  /// Hot path.
  public void append(Registration from, long offset, int bytes) {
    requests.append(from, offset, bytes);
  }

  /// Writes into the peer's memory and consumes one of the peer's receives.
  ///
  /// Hot path.
  public boolean tryWriteImmediate(
      long id,
      int flags,
      Registration from,
      long offset,
      int bytes,
      long remote,
      int key,
      int immediate) {
    return requests.local(id, flags, from, offset, bytes)
        && requests.writeImmediate(remote, key, immediate);
  }

  /// Sends the peer an immediate value, which consumes one of its receives.
  ///
  /// Hot path.
  public boolean tryNotice(long id, int flags, int immediate) {
    return requests.empty(id, flags) && requests.writeImmediate(0, 0, immediate);
  }

  /// Reads the peer's memory into local memory.
  ///
  /// Hot path.
  public boolean tryRead(
      long id, int flags, Registration into, long offset, int bytes, long remote, int key) {
    return requests.local(id, flags, into, offset, bytes) && requests.read(remote, key);
  }

  /// Adds to 8 aligned bytes of the peer's memory and returns the previous value in `into`.
  public boolean tryFetchAdd(
      long id, int flags, Registration into, long offset, long remote, int key, long add) {
    return requests.local(id, flags, into, offset, Long.BYTES)
        && requests.fetchAdd(remote, key, add);
  }

  @Override
  boolean endsFirst() {
    return true;
  }

  @Override
  void release() {
    int ended = domain.device().library().resources().destroyQp(address);
    arena.close();
    VerbsException.check(ended, "destroy " + this);
  }

  @Override
  public String toString() {
    return "queue pair " + number + " of " + domain.device().name();
  }
}
