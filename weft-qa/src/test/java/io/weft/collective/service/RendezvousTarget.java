// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.TransferProtocol;
import io.weft.rendezvous.frame.ItemWriter;
import io.weft.rendezvous.frame.TensorSpec;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.transport.RemoteRegion;
import io.weft.transport.TransportException;
import io.weft.transport.region.RegionTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/// The rendezvous of a rank whose peers are proved but broken. The input is a list of events, each
/// a byte that selects the event, followed by its arguments. An event publishes or requests a
/// tensor, ends a step, delivers a peer's items in any order and with any content, completes posted
/// reads and writes or advances the time. At the end every request must be answered and every
/// published tensor released.
public final class RendezvousTarget implements FuzzTarget {

  private static final int MAX_EVENTS = 200;
  private static final Duration LIMIT = Duration.ofSeconds(1);

  // One table for all inputs, because opening a table draws a random number from the system.
  private final RegionTable table = new RegionTable("script");
  private final MemorySegment message =
      Arena.ofAuto().allocate(ScriptedTransport.MAX_MESSAGE_BYTES, 64);

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public RendezvousTarget() {}

  @Override
  public String name() {
    return "rendezvous";
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        // Receives that are answered inside a message, from memory, as dead and as failed.
        new byte[] {0, 0, 0, 0, 1, 1, 4, 0, 7, 0, 3, 1, 1},
        new byte[] {0, 0, 0, 0, 1, 1, 4, 0, 8, 0, 1, 9, 1, 1, 8, 0, 0, 1, 1},
        new byte[] {1, 0, 0, 0, 1, 1, 4, 0, 9, 0, 1, 9, 1, 1, 6, 0, 1, 1, 1},
        new byte[] {0, 0, 0, 0, 1, 1, 4, 0, 10, 0, 0, 0, 0, 1, 1, 4, 0, 11, 1},
        // Tensors that a peer fetches: a short one, a long one by reads, a long one by writes.
        new byte[] {0, 1, 0, 0, 3, 4, 0, 1, 0, 4, 0, 2, 0, 0, 0, 1, 1},
        new byte[] {0, 1, 0, 0, -1, 4, 0, 1, 0, 4, 0, 2, 0, 0, 0, 1, 1, 4, 0, 5, 0, 1, 1},
        new byte[] {1, 1, 0, 0, -1, 4, 0, 1, 0, 4, 0, 3, 0, 0, -1, 1, 1, 8, 0, 0, 1, 1},
        new byte[] {0, 2, 0, 0, 4, 0, 1, 0, 4, 0, 2, 0, 0, 0, 1, 1, 11, 0, 10, 0, 9, 0});
  }

  @Override
  public List<byte[]> dictionary() {
    return List.of(
        new byte[] {0, 0, 0},
        new byte[] {1, 0, 0, -1},
        new byte[] {2, 0, 0},
        new byte[] {4, 0, 1, 0},
        new byte[] {4, 0, 2, 0, 0, 0},
        new byte[] {4, 0, 3, 0, 0, -1},
        new byte[] {4, 0, 4, 0, 0, -1},
        new byte[] {4, 0, 7, 0, 3},
        new byte[] {4, 0, 8, 0, 1, 9},
        new byte[] {4, 0, 9, 0, 1, 9},
        new byte[] {1, 1},
        new byte[] {8, 0, 0},
        new byte[] {6, 0, 0, 0, 0, 1});
  }

  @Override
  public void decode(byte[] input) {
    var in = ByteBuffer.wrap(input);
    boolean writes = in.hasRemaining() && (in.get() & 1) == 1;
    TransferProtocol protocol = writes ? TransferProtocol.WRITE : TransferProtocol.READ;
    Events events;
    try (var rank = new ScriptedRank(table, protocol)) {
      events = new Events(in, rank, new ItemWriter(message));
      for (int i = 0; i < MAX_EVENTS && events.next(); i++) {
        rank.cycle(0);
      }
    }
    if (events.unanswered != 0 || events.unreleased != 0) {
      throw new AssertionError(
          events.unanswered
              + " receives without an answer, "
              + events.unreleased
              + " not released");
    }
  }

  /// Reads the input. Bytes beyond its end are 0.
  private static final class Events {
    private final ByteBuffer in;
    private final ScriptedRank rank;
    private final ItemWriter items;
    private int unanswered;
    private int unreleased;

    Events(ByteBuffer in, ScriptedRank rank, ItemWriter items) {
      this.in = in;
      this.rank = rank;
      this.items = items;
    }

    private int one() {
      return in.hasRemaining() ? in.get() & 0xff : 0;
    }

    private byte[] some(int bytes) {
      byte[] got = new byte[bytes];
      in.get(got, 0, Math.min(bytes, in.remaining()));
      return got;
    }

    private ScriptedTransport.Peer peer() {
      List<ScriptedTransport.Peer> peers = rank.transport().peers();
      return peers.get(one() % peers.size());
    }

    boolean next() {
      if (!in.hasRemaining()) {
        return false;
      }
      switch (one() % 12) {
        case 0 -> receive(key(2 * (one() % 2), ScriptedRank.RANK));
        case 1 -> publish(key(ScriptedRank.RANK, one() % ScriptedRank.RANKS), 64 * one());
        case 2 -> rank.rendezvous().publishDead(key(ScriptedRank.RANK, one() % ScriptedRank.RANKS));
        case 3 -> peer().says(some(one()));
        case 4 -> says(peer());
        case 5 -> echo(peer());
        case 6 -> peer().notifies(ByteBuffer.wrap(some(4)).getInt());
        case 7 -> rank.cycle(one() * 10_000_000L);
        case 8 -> settle(peer(), one() % 3);
        case 9 -> breaksOrFills(peer(), one());
        case 10 -> rank.rendezvous().abort(one() % 4, "the script aborts it");
        default -> rank.rendezvous().end(one() % 4);
      }
      return true;
    }

    private RendezvousKey key(int source, int destination) {
      int which = one();
      return RendezvousKey.of(
          new Edge(source, 0, destination, which % 2 == 0 ? "a" : "b"), which / 2 % 4);
    }

    private void receive(RendezvousKey key) {
      unanswered++;
      rank.rendezvous()
          .receive(
              key,
              LIMIT,
              arrival -> {
                unanswered--;
                if (arrival instanceof Arrival.Live(var tensor)) {
                  tensor.close();
                } else if (arrival instanceof Arrival.Failed(var cause)
                    && String.valueOf(cause.getMessage()).isBlank()) {
                  throw new AssertionError("a failure without a message", cause);
                }
              });
    }

    private void publish(RendezvousKey key, int elements) {
      Shape shape = Shape.of(elements);
      MemorySegment memory = Arena.ofAuto().allocate(TensorView.bytes(DType.FLOAT32, shape), 64);
      unreleased++;
      rank.rendezvous()
          .publish(key, new TensorView(DType.FLOAT32, shape, memory), () -> unreleased--);
    }

    /// Delivers a message of up to 4 well-formed items with numbers from the input.
    private void says(ScriptedTransport.Peer peer) {
      items.begin();
      for (int count = 0; count < 4; count++) {
        boolean unused = item(one() % 12);
      }
      byte[] bytes = items.end().toArray(ValueLayout.JAVA_BYTE);
      peer.says(bytes);
    }

    private boolean item(int type) {
      return switch (type) {
        case 1 -> items.edge(one(), one() % 2, (one() % 2 == 0 ? "a" : "b").getBytes(UTF_8));
        case 2 -> items.request(one(), one(), one() % 4, 0, 0, one() % 2 == 0);
        case 3 -> items.requestInto(one(), one(), one() % 4, 0, 0, signature(), region());
        case 4 -> items.destination(one(), one(), signature(), region());
        case 5 -> items.release(one());
        case 6 -> items.cancel(one() - 1, one() % 4);
        case 7 -> {
          int id = one();
          int elements = one();
          MemorySegment data = Arena.ofAuto().allocate(4L * elements, 8);
          yield items.inline(
              id, new TensorSpec(DType.FLOAT32, Shape.of(elements), 4L * elements), data);
        }
        case 8 -> items.meta(one(), one(), signature(), region());
        case 9 -> items.shape(one(), one(), signature());
        case 10 -> items.dead(one());
        case 11 -> items.failed(one(), "the script says so".getBytes(UTF_8));
        default -> false;
      };
    }

    private TensorSpec signature() {
      Shape shape = Shape.of(64L * one());
      return new TensorSpec(DType.FLOAT32, shape, TensorView.bytes(DType.FLOAT32, shape));
    }

    private RemoteRegion region() {
      int kind = one();
      return new RemoteRegion(0, kind == 0 ? Long.MIN_VALUE : 1 << 16, 0x10000 + kind, 0);
    }

    /// Sends back a message of this rank with some bytes changed.
    private void echo(ScriptedTransport.Peer peer) {
      List<byte[]> sent = rank.transport().sent();
      if (sent.isEmpty()) {
        return;
      }
      byte[] frame = sent.get(one() % sent.size()).clone();
      for (int changes = one() % 8; changes > 0 && frame.length > 0; changes--) {
        int at = one();
        frame[at % frame.length] ^= (byte) one();
      }
      peer.says(Arrays.copyOf(frame, Math.max(0, frame.length - one() % 32)));
    }

    private static void settle(ScriptedTransport.Peer peer, int how) {
      peer.settles(
          switch (how) {
            case 1 -> new TransportException.Refused("refused by the script", null);
            case 2 -> new TransportException.EndpointLost("lost by the script", null);
            default -> null;
          });
    }

    private static void breaksOrFills(ScriptedTransport.Peer peer, int what) {
      if (what % 4 == 0) {
        peer.breaks();
      } else {
        peer.full = !peer.full;
      }
    }
  }
}
