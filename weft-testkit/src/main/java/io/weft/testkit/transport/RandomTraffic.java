// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// One side of random traffic. Both sides draw the same operations from the seed, so the receiver
/// knows the next operation. Every operation has a number; its bytes are a function of sender and
/// number. Writes use a ring of slots in the peer's region. A message acknowledges each write, so
/// that a slot is written again only after it was checked. Reads fetch a constant region.
final class RandomTraffic implements FrameSink, AutoCloseable {

  private static final int SLOTS = 8;
  private static final int SLOT_BYTES = 700_000;
  private static final int READ_BYTES = 1 << 20;
  private static final long LIMIT_NANOS = 30_000_000_000L;

  private final Transport transport;
  private final int node;
  private final int operations;
  private final long limitNanos;
  private final Random mine;
  private final Random theirs;
  private final MemoryRegion outgoing;
  private final MemoryRegion incoming;
  private final MemoryRegion constant;
  private final MemoryRegion fetched;
  private final Reading reading = new Reading();
  private final Writing writing = new Writing();
  private @Nullable RandomTraffic peer;
  private @Nullable Endpoint endpoint;
  private @Nullable AssertionError failure;
  private int posted;
  private int received;
  private int written;
  private int acknowledged;
  private int checked;
  private int toAcknowledge;
  private boolean readOut;
  private int writesOut;
  private int kind = -1;
  private int length;
  private boolean finished;

  /// The operations of both nodes.
  ///
  /// @param seed of the random choices
  /// @param operations of each node
  /// @param waitFactor multiplies the time limits
  record Load(long seed, int operations, int waitFactor) {}

  RandomTraffic(TransportProvider provider, String bind, int node, Load load) {
    this.node = node;
    limitNanos = load.waitFactor() * LIMIT_NANOS;
    this.operations = load.operations();
    mine = new Random(load.seed() + node);
    theirs = new Random(load.seed() + 1 - node);
    transport =
        provider.open(
            new TransportConfig(bind, Node.CONNECT_DEADLINE, Node.credentials(node)), this);
    outgoing = transport.allocate((long) SLOTS * SLOT_BYTES);
    incoming = transport.allocate((long) SLOTS * SLOT_BYTES);
    constant = transport.allocate(READ_BYTES);
    fetched = transport.allocate(READ_BYTES);
    Node.fill(constant.segment(), new Random(load.seed() * 31 + node));
  }

  void meet(RandomTraffic other) {
    peer = other;
  }

  void start(int peerNode) {
    endpoint = transport.connect(other().transport.address(), peerNode);
  }

  boolean isFinished() {
    return finished;
  }

  void run(BooleanSupplier stop) {
    long start = System.nanoTime();
    boolean done = false;
    while (!stop.getAsBoolean()) {
      long now = System.nanoTime();
      int work = transport.poll(now);
      if (failure != null) {
        throw failure;
      }
      work += acknowledge() + post();
      done = isComplete();
      finished = done;
      if (done && other().finished) {
        // The peer may still wait for data in flight.
        transport.poll(now);
        return;
      }
      if (now - start > limitNanos) {
        throw new AssertionError("not finished in time: " + this);
      }
      if (work == 0) {
        transport.await(2_000_000);
      }
    }
  }

  private boolean isComplete() {
    return posted == operations
        && received == operations
        && acknowledged == written
        && toAcknowledge == 0
        && writesOut == 0
        && !readOut;
  }

  private int acknowledge() {
    int work = 0;
    while (toAcknowledge > 0 && endpoint != null) {
      if (endpoint.trySend(MemorySegment.ofArray(new byte[0])) != PostResult.POSTED) {
        break;
      }
      toAcknowledge--;
      work++;
    }
    return work;
  }

  private int post() {
    Endpoint to = endpoint;
    int work = 0;
    while (to != null && posted < operations && work < 32) {
      if (kind < 0) {
        kind = mine.nextInt(3);
        length = draw(mine, kind);
      }
      if (postNext(to) != PostResult.POSTED) {
        break;
      }
      kind = -1;
      posted++;
      work++;
    }
    return work;
  }

  private PostResult postNext(Endpoint to) {
    return switch (kind) {
      case 0 -> to.trySend(MemorySegment.ofArray(contents(node, posted, length)));
      case 1 -> {
        if (written - acknowledged == SLOTS) {
          yield PostResult.BACK_PRESSURED;
        }
        long at = (long) (written % SLOTS) * SLOT_BYTES + written % 13;
        byte[] bytes = contents(node, posted, length);
        MemorySegment.copy(bytes, 0, outgoing.segment(), ValueLayout.JAVA_BYTE, at, length);
        RemoteSlice into = Transfers.part(other().incoming, at, length);
        Completion done = writing.next();
        PostResult result = to.tryWrite(outgoing.slice(at, length), into, posted, done);
        if (result == PostResult.POSTED) {
          written++;
          writesOut++;
        }
        yield result;
      }
      default -> {
        if (readOut) {
          yield PostResult.BACK_PRESSURED;
        }
        Slice into = fetched.slice(posted % 17, length);
        reading.begin(posted % 17, length);
        PostResult result =
            to.tryRead(into, Transfers.part(other().constant, posted % 17, length), reading);
        readOut = result == PostResult.POSTED;
        if (readOut) {
          reading.bytes = length;
        } else {
          reading.cancel();
        }
        yield result;
      }
    };
  }

  private static int draw(Random random, int kind) {
    int bits = kind == 0 ? random.nextInt(17) : random.nextInt(20);
    int bytes = random.nextInt(1 << bits);
    return kind == 0 ? bytes + 1 : Math.min(bytes, SLOT_BYTES - 20);
  }

  private static byte[] contents(int sender, int number, int length) {
    byte[] bytes = new byte[length];
    new Random(number * 2L + sender).nextBytes(bytes);
    return bytes;
  }

  @Override
  public void onConnect(Endpoint connected) {
    endpoint = connected;
  }

  @Override
  public void onMessage(Endpoint from, MemorySegment message) {
    if (message.byteSize() == 0) {
      acknowledged++;
      return;
    }
    int bytes = nextExpected(0);
    byte[] expected = contents(1 - node, received, bytes);
    check(message.mismatch(MemorySegment.ofArray(expected)) == -1, "message differs");
    received++;
    skipReads();
  }

  @Override
  public void onNotify(Endpoint from, int immediate) {
    int bytes = nextExpected(1);
    check(immediate == received, "notification " + immediate + " came");
    long at = (long) (checked % SLOTS) * SLOT_BYTES + checked % 13;
    byte[] expected = contents(1 - node, received, bytes);
    MemorySegment landed = incoming.segment().asSlice(at, bytes);
    check(landed.mismatch(MemorySegment.ofArray(expected)) == -1, "write differs");
    checked++;
    toAcknowledge++;
    received++;
    skipReads();
  }

  // The peer's next operation that this side can observe; -1 = not drawn.
  private int expectedKind = -1;
  private int expectedLength;

  private int nextExpected(int seen) {
    skipReads();
    check(expectedKind == seen, "kind " + seen + " came, " + expectedKind + " was due");
    expectedKind = -1;
    return expectedLength;
  }

  /// Draws the peer's operations up to the next one that this side can observe.
  private void skipReads() {
    while (expectedKind < 0 && received < operations) {
      expectedKind = theirs.nextInt(3);
      expectedLength = draw(theirs, expectedKind);
      if (expectedKind == 2) {
        expectedKind = -1;
        received++;
      }
    }
  }

  @Override
  public void onFailure(Endpoint from, TransportException cause) {
    if (failure == null && !other().finished) {
      failure = new AssertionError("endpoint failed: " + this, cause);
    }
  }

  private void check(boolean condition, String what) {
    if (!condition && failure == null) {
      failure = new AssertionError(what + " at operation " + received + ": " + this);
    }
  }

  private RandomTraffic other() {
    RandomTraffic other = peer;
    if (other == null) {
      throw new IllegalStateException("this side has not met its peer");
    }
    return other;
  }

  @Override
  public void close() {
    transport.close();
    outgoing.close();
    incoming.close();
    constant.close();
    fetched.close();
  }

  @Override
  public String toString() {
    return "node %d posted %d received %d of %d, written %d acknowledged %d, reading %s"
        .formatted(node, posted, received, operations, written, acknowledged, readOut);
  }

  private final class Reading extends Completion {
    private long at;
    private long bytes;
    private boolean armed;

    void begin(long offset, long length) {
      at = offset;
      bytes = length;
      if (!armed) {
        armed = true;
        arm(1);
      }
    }

    void cancel() {
      // It stays armed for the next attempt.
    }

    @Override
    protected void onSuccess() {
      armed = false;
      readOut = false;
      check(Transfers.mismatch(fetched, at, other().constant, at, bytes) == -1, "read data differ");
    }

    @Override
    protected void onFailure(TransportException first) {
      armed = false;
      check(false, "read failed: " + first.getMessage());
    }
  }

  private final class Writing {
    Completion next() {
      Completion completion =
          new Completion() {
            @Override
            protected void onSuccess() {
              writesOut--;
            }

            @Override
            protected void onFailure(TransportException first) {
              check(false, "write failed: " + first.getMessage());
            }
          };
      completion.arm(1);
      return completion;
    }
  }
}
