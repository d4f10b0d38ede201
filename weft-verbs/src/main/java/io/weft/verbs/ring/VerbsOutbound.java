// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.transport.Completion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.verbs.memory.Pin;
import io.weft.verbs.memory.Pins;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// The send queue to one peer: messages, writes and read requests in posting order, and
/// independently the answers to the peer's reads. The device reads long payloads from pinned
/// memory; other payloads are copied into the send buffer. If the peer has offered the block of its
/// region, the device writes and reads the region directly.
public final class VerbsOutbound {

  /// The maximum number of concurrent reads and writes of one side.
  public static final int MAX_IN_FLIGHT = 256;

  /// The longest message in the longest rings.
  public static final int MAX_MESSAGE_BYTES = VerbsFrame.MAX_PAYLOAD;

  private static final long BYTES_PER_CYCLE = 1 << 20;

  private final Carrier carrier;
  private final Pins pins;
  private final OneSided oneSided;
  private final ArrayDeque<VerbsOperation> free = new ArrayDeque<>();
  // Operations that are not passed to the device completely.
  private final ArrayDeque<VerbsOperation> posted = new ArrayDeque<>();
  // Operations that are passed completely; the device may still be reading.
  private final ArrayDeque<VerbsOperation> leaving = new ArrayDeque<>();
  // Reads that wait for their answer, in order.
  private final ArrayDeque<VerbsOperation> waiting = new ArrayDeque<>();
  private final ArrayDeque<VerbsOperation> served = new ArrayDeque<>();
  // Direct reads that are not passed to the device completely.
  private final ArrayDeque<VerbsOperation> fetching = new ArrayDeque<>();
  private final RegionNotices notes;
  private final PeerGrants offers;
  private long fetchedBytes;
  private boolean servesFirst;

  /// The kind of an operation.
  public enum SendKind {
    /// Writes local bytes to the peer.
    WRITE,
    /// Reads the peer's bytes.
    READ,
    /// Answers a read of the peer.
    SERVE
  }

  /// Creates an empty queue.
  public VerbsOutbound(Carrier carrier, Pins pins, OneSided oneSided) {
    this.carrier = carrier;
    notes = new RegionNotices(carrier);
    offers = new PeerGrants(notes);
    this.pins = pins;
    this.oneSided = oneSided;
  }

  /// Posts a message; returns false if it does not fit, or an operation precedes it.
  ///
  /// Hot path.
  public boolean send(MemorySegment message) {
    int bytes = (int) message.byteSize();
    int unused = notes.push();
    int place = posted.isEmpty() && notes.isEmpty() ? carrier.begin(bytes) : -1;
    if (place < 0) {
      return false;
    }
    header(place, VerbsFrame.MESSAGE, bytes, 0, 0, 0, 0);
    MemorySegment.copy(message, 0, carrier.sendBuffer(), (long) place + VerbsFrame.HEADER, bytes);
    carrier.post(place, bytes, false);
    return true;
  }

  /// Returns the blocks that the peer has offered.
  PeerGrants offers() {
    return offers;
  }

  /// Returns whether the peer has told that it has closed the region with this key.
  public boolean isClosed(int key) {
    return offers.isClosed(key);
  }

  /// Handles the withdrawal of a block.
  void withdraw(int deviceKey) throws VerbsFault {
    notes.check();
    offers.withdraw(deviceKey);
  }

  /// Handles the close of a region.
  void closed(int key) throws VerbsFault {
    notes.check();
    offers.close(key, inFlight(posted, key) + inFlight(leaving, key) + inFlight(fetching, key));
  }

  private static int inFlight(ArrayDeque<VerbsOperation> ops, int key) {
    int count = 0;
    for (VerbsOperation op : ops) {
      count += op.offer != null && op.key == key ? 1 : 0;
    }
    return count;
  }

  /// Returns the bytes of direct reads.
  long fetchedBytes() {
    return fetchedBytes;
  }

  RegionNotices notes() {
    return notes;
  }

  private void header(
      int place, int kind, int payload, int key, int immediate, long offset, long length) {
    VerbsFrame.header(carrier.sendBuffer(), place, kind, payload, key, immediate, offset, length);
  }

  /// Posts a read or write.
  ///
  /// @param refusal the reason why it is refused; null if it is executed
  ///
  ///   Hot path.
  public PostResult post(
      SendKind kind,
      LocalRegion region,
      long offset,
      RemoteSlice remote,
      int immediate,
      Completion done,
      @Nullable TransportException refusal) {
    if (posted.size() + leaving.size() + waiting.size() + fetching.size() >= MAX_IN_FLIGHT) {
      return PostResult.BACK_PRESSURED;
    }
    region.post();
    VerbsOperation op = fresh(kind);
    op.region = region;
    op.pinned = remote.bytes() > pins.copiedBytes() ? pins.of(region) : null;
    op.offset = offset;
    op.bytes = remote.bytes();
    op.key = remote.region().key();
    op.remoteAddress = remote.region().address();
    op.remoteOffset = remote.offset();
    op.immediate = immediate;
    op.done = done;
    op.error = refusal;
    op.offer = refusal == null && op.pinned != null ? claimed(remote) : null;
    if (kind == SendKind.READ && op.offer != null) {
      fetching.add(op);
    } else {
      posted.add(op);
    }
    return PostResult.POSTED;
  }

  /// Claims the offer by which a slice can be accessed directly; returns null if it does not exist.
  private @Nullable PeerGrant claimed(RemoteSlice remote) {
    RemoteRegion region = remote.region();
    PeerGrant offer =
        region.address() == 0
            ? null
            : offers.find(region.address() + remote.offset(), remote.bytes());
    if (offer != null) {
      offer.claim();
    }
    return offer;
  }

  private VerbsOperation fresh(SendKind kind) {
    VerbsOperation op = free.poll();
    if (op == null) {
      op = new VerbsOperation();
    }
    op.kind = kind;
    return op;
  }

  /// Queues a read of the peer. Throws `VerbsFault` if the peer has too many reads pending.
  void serve(int key, long offset, long bytes) throws VerbsFault {
    if (served.size() >= MAX_IN_FLIGHT) {
      throw new VerbsFault("more than " + MAX_IN_FLIGHT + " reads at a time");
    }
    VerbsOperation op = fresh(SendKind.SERVE);
    op.key = key;
    op.remoteOffset = offset;
    op.bytes = bytes;
    served.add(op);
  }

  /// Posts frames to the device as far as they fit; returns their count.
  ///
  /// Hot path.
  public int push() {
    servesFirst = !servesFirst;
    int frames = notes.push() + pushFetches();
    return servesFirst
        ? frames + push(served, BYTES_PER_CYCLE) + push(posted, BYTES_PER_CYCLE)
        : frames + push(posted, BYTES_PER_CYCLE) + push(served, BYTES_PER_CYCLE);
  }

  /// Posts direct reads to the device.
  private int pushFetches() {
    int requests = 0;
    for (VerbsOperation op = fetching.peek(); op != null; op = fetching.peek()) {
      Pin into = op.pinned;
      PeerGrant offer = op.offer;
      int part = (int) Math.min(op.bytes - op.moved, VerbsFrame.MAX_PLACED);
      if (into == null
          || offer == null
          || !carrier.fetch(
              into.registration(),
              into.offset() + op.offset + op.moved,
              part,
              op.remoteAddress + op.remoteOffset + op.moved,
              offer.deviceKey())) {
        break;
      }
      requests++;
      op.moved += part;
      if (op.moved == op.bytes) {
        op.lastRequest = carrier.posted();
        leaving.add(fetching.remove());
      }
    }
    return requests;
  }

  private int push(ArrayDeque<VerbsOperation> from, long limit) {
    int frames = 0;
    long left = limit;
    while (left > 0) {
      VerbsOperation op = from.peek();
      if (op == null) {
        break;
      }
      long payload =
          switch (op.kind) {
            case WRITE -> write(op);
            case READ -> read(op);
            case SERVE -> answer(op);
          };
      if (payload < 0) {
        break;
      }
      frames++;
      left -= payload + VerbsFrame.HEADER;
    }
    return frames;
  }

  /// Posts one frame of a write; returns its payload, or -1 if it does not fit.
  private int write(VerbsOperation op) {
    if (op.error != null) {
      leaving.add(posted.remove());
      return 0;
    }
    PeerGrant offer = op.offer;
    int most = offer == null ? carrier.maxPayload() : VerbsFrame.MAX_PLACED;
    int payload = (int) Math.min(op.bytes - op.moved, most);
    Pin pinned = op.pinned;
    int place =
        offer != null
            ? carrier.begin(0)
            : pinned != null ? carrier.beginFetched(payload) : carrier.begin(payload);
    if (place < 0) {
      return -1;
    }
    boolean last = op.moved + payload == op.bytes;
    header(
        place,
        offer == null
            ? (last ? VerbsFrame.LAST : VerbsFrame.WRITE)
            : (last ? VerbsFrame.LAST_PLACED : VerbsFrame.PLACED),
        payload,
        op.key,
        op.immediate,
        op.remoteOffset + op.moved,
        op.bytes);
    if (pinned != null && offer != null) {
      carrier.place(
          place,
          payload,
          pinned.registration(),
          pinned.offset() + op.offset + op.moved,
          op.remoteAddress + op.remoteOffset + op.moved,
          offer.deviceKey(),
          last);
      oneSided.wrote(payload);
    } else if (pinned != null) {
      carrier.post(
          place, payload, pinned.registration(), pinned.offset() + op.offset + op.moved, last);
    } else if (copy(op.own(), op.offset + op.moved, place, payload)) {
      carrier.post(place, payload, last);
    } else {
      breakOff(op, place, payload);
      return payload;
    }
    if (offer == null && op.bytes > pins.copiedBytes()) {
      oneSided.sentByRing(payload);
    }
    op.moved += payload;
    if (last) {
      op.lastRequest = carrier.posted();
      leaving.add(posted.remove());
    }
    return payload;
  }

  /// Returns false if the memory was freed.
  private boolean copy(LocalRegion from, long offset, int place, int payload) {
    try {
      MemorySegment.copy(
          from.segment(), offset, carrier.sendBuffer(), (long) place + VerbsFrame.HEADER, payload);
      return true;
    } catch (IllegalStateException freed) {
      return false;
    }
  }

  /// Sends the last frame of a write whose memory was freed, as a part that does not notify the
  /// peer.
  private void breakOff(VerbsOperation op, int place, int payload) {
    int kind = VerbsFrame.WRITE;
    long at = op.remoteOffset + op.moved;
    header(place, kind, payload, op.key, op.immediate, at, op.bytes);
    carrier.post(place, payload, true);
    op.error =
        new TransportException.Refused(
            "write of " + op.bytes + " bytes refused: its arena is closed",
            new IllegalStateException("Already closed"));
    op.lastRequest = carrier.posted();
    leaving.add(posted.remove());
  }

  private int read(VerbsOperation op) {
    if (op.error != null) {
      leaving.add(posted.remove());
      return 0;
    }
    int place = carrier.begin(0);
    if (place < 0) {
      return -1;
    }
    header(place, VerbsFrame.READ, 0, op.key, 0, op.remoteOffset, op.bytes);
    carrier.post(place, 0, false);
    waiting.add(posted.remove());
    return 0;
  }

  /// Posts one frame of the answer to a peer's read. The region may be accessed only during a
  /// visit.
  private int answer(VerbsOperation op) {
    LocalRegion region = pins.table().find(op.key);
    if (region == null || !region.contains(op.remoteOffset, op.bytes) || !region.visit()) {
      return refuse(op);
    }
    int payload = (int) Math.min(op.bytes - op.moved, carrier.maxPayload());
    int place = carrier.begin(payload);
    boolean copied = place < 0 || copy(region, op.remoteOffset + op.moved, place, payload);
    region.leave();
    if (place < 0) {
      return -1;
    }
    if (!copied) {
      header(place, VerbsFrame.REFUSAL, payload, op.key, 0, op.remoteOffset, op.bytes);
      carrier.post(place, payload, false);
      retire(served.remove());
      return payload;
    }
    if (op.bytes > pins.copiedBytes()) {
      oneSided.sentByRing(payload);
    }
    header(place, VerbsFrame.ANSWER, payload, 0, 0, op.moved, op.bytes);
    carrier.post(place, payload, false);
    op.moved += payload;
    if (op.moved == op.bytes) {
      retire(served.remove());
    }
    return payload;
  }

  private int refuse(VerbsOperation op) {
    int place = carrier.begin(0);
    if (place < 0) {
      return -1;
    }
    header(place, VerbsFrame.REFUSAL, 0, op.key, 0, op.remoteOffset, op.bytes);
    carrier.post(place, 0, false);
    retire(served.remove());
    return 0;
  }

  private void retire(VerbsOperation op) {
    op.clear();
    free.add(op);
  }

  /// Completes the writes and direct reads that the device has finished; returns their count.
  ///
  /// Hot path.
  public int settle() {
    int done = 0;
    while (true) {
      VerbsOperation op = leaving.peek();
      if (op == null || op.lastRequest > carrier.retired()) {
        return done;
      }
      leaving.remove();
      if (op.kind == SendKind.READ && op.error == null) {
        fetchedBytes += op.bytes;
        oneSided.read(op.bytes);
      }
      finish(op, op.error);
      done++;
    }
  }

  private void finish(VerbsOperation op, @Nullable TransportException error) {
    PeerGrant offer = op.offer;
    if (offer != null) {
      offers.settle(offer, op.key);
    }
    op.finish(error);
    free.add(op);
  }

  /// Returns the read whose answer comes next, or null.
  @Nullable VerbsOperation nextAnswered() {
    return waiting.peek();
  }

  /// Finishes the read whose answer was received.
  public void answered(@Nullable TransportException error) {
    finish(waiting.remove(), error);
  }

  /// Fails all posted operations.
  public void end(TransportException cause) {
    served.clear();
    fail(leaving, cause);
    fail(waiting, cause);
    fail(fetching, cause);
    fail(posted, cause);
  }

  private static void fail(ArrayDeque<VerbsOperation> ops, TransportException cause) {
    for (VerbsOperation op = ops.poll(); op != null; op = ops.poll()) {
      op.finish(cause);
    }
  }
}
