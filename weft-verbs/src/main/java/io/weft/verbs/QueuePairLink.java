// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.verbs.device.AsyncEvent;
import io.weft.verbs.device.QueuePair;
import io.weft.verbs.device.QueuePair.Flag;
import io.weft.verbs.device.QueuePairAddress;
import io.weft.verbs.device.Registration;
import io.weft.verbs.model.FramePlaces;
import io.weft.verbs.model.OwnSendBuffer;
import io.weft.verbs.model.SendBuffer;
import io.weft.verbs.ring.Carrier;
import io.weft.verbs.ring.RingCredits;
import io.weft.verbs.ring.VerbsFault;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.BitSet;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// A queue pair with its receive ring, into which the peer writes frames, and the buffer in which
/// it builds frames for the peer's ring. Each write of a frame has its ring index as the immediate
/// value and consumes one of the receives that the peer's queue pairs share. The peer returns
/// credit for consumed frames with an immediate value alone. Rings therefore never overflow.
final class QueuePairLink implements Carrier {

  private static final int SENDS = VerbsSettings.SENDS;
  // Later requests wait for most fetches; the bound keeps a delayed message from appearing as
  // silence.
  private static final int FETCHES = 16;

  private final Adapter adapter;
  private final LongConsumer sentOfAll;
  private final Arena arena = Arena.ofShared();
  private final int ringBytes;
  private final Registration rings;
  private final MemorySegment receiveRing;
  private final FramePlaces places;
  private final QueuePair pair;
  private final QueuePairAddress address;
  private final RingCredits flow;
  private final @Nullable Registration[] claims = new @Nullable Registration[SENDS];
  private final @Nullable Registration[] payloads = new @Nullable Registration[SENDS];
  private final BitSet fetching = new BitSet(SENDS);
  private long peerRing;
  private int peerKey;
  // The counts of work requests: posted, the last signaled one, and completed.
  private long posted;
  private long signaled;
  private long retired;
  private long bytesSent;
  // The index of the frame that has begun, in the peer's ring.
  private int index;
  private String failure = "";
  private boolean ended;

  /// Creates rings and a queue pair that can receive once it is connected. Throws `VerbsException`.
  ///
  /// @param sentOfAll receives the count of posted bytes
  QueuePairLink(Adapter adapter, VerbsSettings settings, LongConsumer sentOfAll) {
    this.sentOfAll = sentOfAll;
    this.adapter = adapter;
    ringBytes = settings.ringBytes();
    flow = new RingCredits(ringBytes);
    boolean isShared = settings.model().sharesSendBuffer();
    Registration registered = null;
    QueuePair made = null;
    try {
      MemorySegment memory = arena.allocate((isShared ? 1L : 2L) * ringBytes, 4096);
      receiveRing = memory.asSlice(0, ringBytes);
      registered = adapter.domain().register(memory, Registration.Access.REMOTE);
      SendBuffer buffer =
          isShared
              ? adapter.sharedSendBuffer(settings)
              : new OwnSendBuffer(registered, ringBytes, memory.asSlice(ringBytes, ringBytes));
      places = new FramePlaces(buffer, SENDS);
      made =
          adapter
              .domain()
              .queuePair(
                  adapter.sends(),
                  adapter.receives(),
                  adapter.receiveQueue(),
                  settings.queuePair());
      made.initialize(adapter.port());
    } catch (RuntimeException e) {
      if (made != null) {
        made.close();
      }
      if (registered != null) {
        registered.close();
      }
      arena.close();
      throw e;
    }
    rings = registered;
    pair = made;
    address =
        new QueuePairAddress(
            pair.number(),
            new SecureRandom().nextInt(1 << 24),
            adapter.port().lid(),
            adapter.gid(),
            adapter.port().activeMtu());
  }

  /// Returns the number of the queue pair, which its completions name.
  int pairNumber() {
    return pair.number();
  }

  boolean isMeantBy(AsyncEvent event) {
    return pair.isMeantBy(event);
  }

  /// Returns the greeting with this side's addresses.
  VerbsGreeting hello(long incarnation) {
    return new VerbsGreeting.Hello(
        incarnation,
        address,
        receiveRing.address(),
        rings.remoteKey(),
        ringBytes,
        RingCredits.SLOTS);
  }

  /// Connects to the peer's queue pair. Throws `VerbsException`, or `VerbsFault` if the rings
  /// differ.
  void connect(VerbsGreeting.Hello peer) throws VerbsFault {
    if (peer.ringBytes() != ringBytes || peer.slots() != RingCredits.SLOTS) {
      throw new VerbsFault(
          "rings of "
              + peer.ringBytes()
              + " bytes and "
              + peer.slots()
              + " slots, here they have "
              + ringBytes
              + " and "
              + RingCredits.SLOTS
              + "; WEFT_VERBS_RING_BYTES must be the same on all ranks");
    }
    peerRing = peer.ringAddress();
    peerKey = peer.ringKey();
    pair.connect(adapter.port(), address, peer.queuePair());
  }

  // Sending.

  /// Returns whether a frame with a separate payload may be posted now.
  ///
  /// Hot path.
  boolean hasRoom() {
    // This reserves one request for a credit notice and one for a last signal.
    return failure.isEmpty() && flow.hasSlot() && posted - retired + 4 <= SENDS;
  }

  @Override
  public int maxPayload() {
    return RingCredits.maxPayload(ringBytes);
  }

  @Override
  public int begin(int payload) {
    return begin(payload, RingCredits.HEADER_BYTES + payload);
  }

  @Override
  public int beginFetched(int payload) {
    return begin(payload, RingCredits.HEADER_BYTES);
  }

  private int begin(int payload, int built) {
    if (!hasRoom() || !places.fits(built)) {
      return -1;
    }
    int reserved = flow.reserve(payload);
    if (reserved < 0) {
      return -1;
    }
    index = reserved;
    return places.begin(reserved, built);
  }

  @Override
  public MemorySegment sendBuffer() {
    return places.memory();
  }

  @Override
  public void post(int place, int payload, boolean signal) {
    postFrame(place, RingCredits.HEADER_BYTES + payload, signal);
    sent(payload);
  }

  @Override
  public void post(int place, int payload, Registration from, long offset, boolean signal) {
    pair.append(from, offset, payload);
    int request = (int) posted & (SENDS - 1);
    postFrame(place, RingCredits.HEADER_BYTES, Flag.NONE, signal);
    payloads[request] = from;
    sent(payload);
  }

  @Override
  public void place(
      int place, int payload, Registration from, long offset, long to, int key, boolean signal) {
    count(pair.tryWrite(posted + 1, Flag.NONE, from, offset, payload, to, key), from);
    postFrame(place, RingCredits.HEADER_BYTES, signal);
    sent(payload);
  }

  @Override
  public boolean fetch(Registration into, long offset, int bytes, long from, int key) {
    if (!failure.isEmpty() || posted - retired + 4 > SENDS || fetching.cardinality() == FETCHES) {
      return false;
    }
    fetching.set((int) posted & (SENDS - 1));
    count(pair.tryRead(posted + 1, signal(true), into, offset, bytes, from, key), into);
    return true;
  }

  private void sent(int payload) {
    bytesSent += RingCredits.HEADER_BYTES + payload;
    sentOfAll.accept(RingCredits.HEADER_BYTES + payload);
  }

  private void postFrame(int place, int bytes, boolean signal) {
    postFrame(place, bytes, bytes <= pair.inlineBytes() ? Flag.INLINE : Flag.NONE, signal);
  }

  private void postFrame(int place, int bytes, int flags, boolean signal) {
    count(
        pair.tryWriteImmediate(
            posted + 1,
            flags | signal(signal || places.needsSignal()),
            places.registration(),
            places.offset(place),
            bytes,
            peerRing + index,
            peerKey,
            RingCredits.immediateOf(index)),
        places.registration());
    places.posted(posted - 1);
    flow.sent();
  }

  /// Signals at least one request per quarter of the send queue, so that the queue empties.
  private int signal(boolean wanted) {
    if (wanted || posted - signaled >= SENDS / 4) {
      signaled = posted + 1;
      return Flag.SIGNALED;
    }
    return Flag.NONE;
  }

  private void count(boolean accepted, @Nullable Registration claim) {
    if (!accepted) {
      throw new IllegalStateException("the send queue is full after " + (posted - retired));
    }
    claims[(int) posted & (SENDS - 1)] = claim;
    posted++;
  }

  @Override
  public long posted() {
    return posted;
  }

  @Override
  public long retired() {
    return retired;
  }

  long bytesSent() {
    return bytesSent;
  }

  /// Retires the requests up to the one in a completion.
  ///
  /// Hot path.
  void retire(long id) {
    if (id < retired || id > posted) {
      fail("the device completed request " + id + ", which is not posted");
      return;
    }
    settle(id);
  }

  private void settle(long upTo) {
    while (retired < upTo) {
      int place = (int) retired & (SENDS - 1);
      Registration claim = claims[place];
      if (claim != null) {
        claim.settle();
        claims[place] = null;
      }
      Registration payload = payloads[place];
      if (payload != null) {
        payload.settle();
        payloads[place] = null;
      }
      fetching.clear(place);
      places.ended(retired);
      retired++;
    }
  }

  /// Requests a signal after all posted requests; returns whether all have completed.
  boolean isDrained() {
    if (failure.isEmpty() && signaled < posted && posted - retired < SENDS) {
      count(pair.tryWrite(posted + 1, signal(true), rings, 0, 0, peerRing, peerKey), rings);
    }
    return retired == posted || !failure.isEmpty();
  }

  // Receiving.

  @Override
  public MemorySegment receiveRing() {
    return receiveRing;
  }

  @Override
  public int indexOf(int immediate) throws VerbsFault {
    return flow.indexOf(immediate);
  }

  @Override
  public void credit(int immediate) throws VerbsFault {
    flow.credit(immediate);
  }

  @Override
  public void consumed(int payload) {
    flow.consumed(payload);
  }

  /// Returns credit to the peer if enough frames are consumed; returns whether it did.
  ///
  /// Hot path.
  boolean tell() {
    if (!flow.isDue() || !failure.isEmpty() || posted - retired + 2 > SENDS) {
      return false;
    }
    count(pair.tryNotice(posted + 1, signal(false), flow.tell()), null);
    return true;
  }

  // The end.

  /// Records the first failure, which causes the others.
  void fail(String why) {
    if (failure.isEmpty()) {
      failure = why;
    }
  }

  /// Returns the reason why the queue pair has failed; empty if it has not.
  String failure() {
    return failure;
  }

  /// Ends all work; afterwards the device accesses neither rings nor payloads.
  void end() {
    if (ended) {
      return;
    }
    ended = true;
    fail("it is closed");
    try {
      pair.fail();
    } finally {
      try {
        pair.close();
      } finally {
        settle(posted);
        places.abandon();
        rings.close();
        arena.close();
      }
    }
  }
}
