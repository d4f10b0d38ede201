// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.verbs.ffm.ResourceCalls;
import io.weft.verbs.ffm.Structs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A queue of completed work requests of any number of queue pairs, with a buffer for the last
/// polled batch. Only one thread at a time may poll it.
public final class CompletionQueue extends Owned implements Completions {

  /// The maximum number of completions of one `poll`.
  public static final int BATCH = 64;

  private static final long BYTES = Structs.WC.byteSize();
  private static final long ID = Structs.offset(Structs.WC, "wr_id");
  private static final long STATUS = Structs.offset(Structs.WC, "status");
  private static final long OPCODE = Structs.offset(Structs.WC, "opcode");
  private static final long VENDOR_ERROR = Structs.offset(Structs.WC, "vendor_err");
  private static final long LENGTH = Structs.offset(Structs.WC, "byte_len");
  private static final long IMMEDIATE = Structs.offset(Structs.WC, "imm_data");
  private static final long QUEUE_PAIR = Structs.offset(Structs.WC, "qp_num");
  private static final int RECEIVE = 1 << 7;

  private final CompletionChannel channel;
  private final long address;
  private final int capacity;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment polled = arena.allocate(BYTES * BATCH, Long.BYTES);

  private CompletionQueue(CompletionChannel channel, long address, int entries) {
    super(List.of(channel));
    this.channel = channel;
    this.address = address;
    MemorySegment struct = ResourceCalls.struct(address, Structs.CQ);
    new ResourceCheck(channel.device().library().file(), "ibv_cq", Structs.CQ, struct)
        .holds("context", channel.device().address())
        .holds("channel", channel.address())
        .atLeast("cqe", entries);
    capacity = struct.get(JAVA_INT, Structs.offset(Structs.CQ, "cqe"));
  }

  static CompletionQueue create(CompletionChannel channel, int entries) {
    Device device = channel.device();
    ResourceCalls calls = device.library().resources();
    long address = calls.createCq(device.address(), entries, channel.address());
    if (address < 0) {
      throw new VerbsException(
          "create a completion queue of " + entries + " entries on " + device.name(),
          (int) -address,
          "the device allows " + device.limits().completions());
    }
    return take(
        () -> new CompletionQueue(channel, address, entries), () -> calls.destroyCq(address));
  }

  /// Returns the capacity; if more completions become due, all queue pairs of this queue are lost.
  public int capacity() {
    return capacity;
  }

  /// Hot path.
  @Override
  public int poll() {
    int count = channel.device().dataPath().poll(address, BATCH, polled);
    if (count < 0) {
      throw new VerbsException("poll " + this, -count, "");
    }
    return count;
  }

  /// Makes the next completion notify the channel. Earlier completions do not: poll again before
  /// waiting.
  public void arm() {
    VerbsException.check(whileOpen(() -> channel.device().dataPath().arm(address)), "arm " + this);
  }

  @Override
  public long id(int place) {
    return polled.get(JAVA_LONG, BYTES * place + ID);
  }

  @Override
  public boolean succeeded(int place) {
    return polled.get(JAVA_INT, BYTES * place + STATUS) == 0;
  }

  /// Returns the status of the request.
  public WorkStatus status(int place) {
    return WorkStatus.of(polled.get(JAVA_INT, BYTES * place + STATUS));
  }

  /// Returns a description of the status, with the numbers of library and driver.
  @Override
  public String words(int place) {
    return status(place)
        .words(
            polled.get(JAVA_INT, BYTES * place + STATUS),
            polled.get(JAVA_INT, BYTES * place + VENDOR_ERROR));
  }

  /// Returns whether the request was a receive; valid only after success.
  public boolean isReceive(int place) {
    return (polled.get(JAVA_INT, BYTES * place + OPCODE) & RECEIVE) != 0;
  }

  /// Returns the count of received bytes.
  public int bytes(int place) {
    return polled.get(JAVA_INT, BYTES * place + LENGTH);
  }

  @Override
  public int immediate(int place) {
    return Integer.reverseBytes(polled.get(JAVA_INT, BYTES * place + IMMEDIATE));
  }

  @Override
  public int queuePair(int place) {
    return polled.get(JAVA_INT, BYTES * place + QUEUE_PAIR);
  }

  long address() {
    return address;
  }

  @Override
  void release() {
    // An unacknowledged event would make the destruction wait forever.
    var unused = channel.take();
    int ended = channel.device().library().resources().destroyCq(address);
    arena.close();
    VerbsException.check(ended, "destroy " + this);
  }

  @Override
  public String toString() {
    return "a completion queue of " + channel.device().name();
  }
}
