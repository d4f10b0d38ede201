// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;

/// A carrier without a device: it discards frames, its owner completes the requests, and registered
/// memory cannot be posted.
final class Wire implements Carrier {

  private static final int REQUESTS = 256;

  private final MemorySegment ring;
  private final MemorySegment sendBuffer;
  private final RingCredits flow;
  private long posted;
  private long retired;

  /// @param ring the ring to which the peer writes; as long as `sendBuffer`, a power of two
  Wire(MemorySegment ring, MemorySegment sendBuffer) {
    this.ring = ring;
    this.sendBuffer = sendBuffer;
    flow = new RingCredits((int) ring.byteSize());
  }

  /// Completes all posted requests.
  void retireAll() {
    retired = posted;
  }

  @Override
  public int maxPayload() {
    return RingCredits.maxPayload((int) ring.byteSize());
  }

  @Override
  public int begin(int payload) {
    return flow.hasSlot() && posted - retired + 4 <= REQUESTS ? flow.reserve(payload) : -1;
  }

  @Override
  public int beginFetched(int payload) {
    throw unregistered();
  }

  @Override
  public MemorySegment sendBuffer() {
    return sendBuffer;
  }

  @Override
  public void post(int place, int payload, boolean signal) {
    flow.sent();
    posted++;
  }

  @Override
  public void post(int place, int payload, Registration from, long offset, boolean signal) {
    throw unregistered();
  }

  @Override
  public void place(
      int place, int payload, Registration from, long offset, long to, int key, boolean signal) {
    throw unregistered();
  }

  @Override
  public boolean fetch(Registration into, long offset, int bytes, long from, int key) {
    throw unregistered();
  }

  private static AssertionError unregistered() {
    return new AssertionError("nothing is registered here");
  }

  @Override
  public long posted() {
    return posted;
  }

  @Override
  public long retired() {
    return retired;
  }

  @Override
  public MemorySegment receiveRing() {
    return ring;
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
    if (flow.isDue()) {
      int unused = flow.tell();
    }
  }
}
