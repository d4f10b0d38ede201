// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.PartDescriptor;
import io.weft.comm.Handle;
import io.weft.qa.fuzz.FuzzTarget;
import io.weft.transport.TransportException;
import io.weft.transport.region.RegionTable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/// A rank whose peers are proved but broken: messages, notifications, grants and completions arrive
/// in any order. The input is a list of events, each a byte that selects the event, followed by its
/// arguments. An event submits an operation, delivers a peer's message, completes posted writes or
/// advances the time.
public final class CollectivesTarget implements FuzzTarget {

  private static final int MAX_EVENTS = 200;
  private static final long MANY_ROWS = 1 << 16;
  private static final List<String> NAMES = List.of("a", "b");

  // One table for all inputs, because opening a table draws a random number from the system.
  private final RegionTable table = new RegionTable("script");

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public CollectivesTarget() {}

  @Override
  public String name() {
    return "collectives";
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        // An allreduce of 3 elements and the answers of both peers.
        new byte[] {0, 0, 0, 0, 3, 4, 1, 1, 0, 0, 0, 0, 4, 1, 1, 1, 0, 0, 0, 4, 1, 9},
        // An allreduce of 100 elements: grants, writes and credit.
        new byte[] {0, 0, 0, 0, 100, 4, 1, 1, 0, 0, 0, 0, 3, 0, 0, 0, 3, 1, 0, 0, 5, 0, 0, 4, 1},
        new byte[] {0, 0, 1, 0, 5, 1, 0, 0, 3, 0, 0, 0, 8, 0, 0, 0, 0, 4, 200 - 256},
        new byte[] {0, 0, 2, 1, 2, 4, 1, 2, 0, 40, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0},
        new byte[] {0, 1, 3, 0, 4, 4, 1, 6, 0, 7, 1, 4, 1},
        // An allreduce on shared memory: the peer echoes this rank's messages.
        new byte[] {0, 1, 6, 0, 100, 4, 1, 10, 0, 0, 0, 0, 4, 1, 10, 0, 1, 0, 0, 4, 1},
        // An allgather in which the peer's memory is this rank's own memory, and a broadcast.
        new byte[] {0, 1, 8, 0, 100, 4, 1, 10, 0, 0, 0, 0, 4, 1, 9, 0, 0, 8, 0, 4, 1},
        new byte[] {0, 1, 7, 0, 100, 4, 1, 9, 0, 0, 8, 0, 4, 1},
        new byte[] {0, 0, 5, 0, 1, 8, 0, 4, 255 - 256, 4, 255 - 256},
        // The mesh's own frames: a heartbeat of one peer, and a good-bye of the other peer, which
        // is then reported lost.
        new byte[] {
          0, 0, 0, 0, 100, 1, 0, 8, -1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 8, -1, 0, 0, 0, 0, 0, 0, 0, 1, 0,
          14, -1, 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 'a', '\n', 4, 1
        });
  }

  @Override
  public List<byte[]> dictionary() {
    return List.of(
        new byte[] {0, 0, 0, 0, 100},
        new byte[] {0, 0, 2, 0, 4},
        new byte[] {0, 0, 4, 0, 90},
        new byte[] {0, 1, 8, 0, 90},
        new byte[] {4, 1},
        new byte[] {4, -1},
        new byte[] {3, 0, 0, 0},
        new byte[] {3, 1, 0, 0},
        new byte[] {5, 0, 0},
        new byte[] {10, 0, 0, 0},
        new byte[] {11, 0, 0, 0},
        new byte[] {1, 0, 8, -1, 1, 0, 0, 0, 0, 0, 0},
        new byte[] {1, 1, 8, -1, 0, 0, 0, 0, 0, 0, 0},
        new byte[] {1, 0, 14, -1, 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 'a', '\n'},
        new byte[] {1, 1, 12, -1, 2, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0});
  }

  @Override
  public void decode(byte[] input) {
    try (var rank = new ScriptedRank(table)) {
      var events = new Events(ByteBuffer.wrap(input), rank);
      for (int i = 0; i < MAX_EVENTS && events.next(); i++) {
        rank.cycle(0);
      }
    }
  }

  /// Reads the input. Bytes beyond its end are 0.
  private record Events(ByteBuffer in, ScriptedRank rank) {

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
        case 0 -> {
          int which = one() % 2;
          int kind = one() % ScriptedRank.KINDS;
          submit(which, kind, NAMES.get(one() % NAMES.size()), 1 + one());
        }
        case 1 -> says(peer(), some(one()));
        case 2 -> peer().notifies(ByteBuffer.wrap(some(4)).getInt());
        case 3 -> {
          ScriptedTransport.Peer peer = peer();
          peer.notifies(token(one()) + one());
        }
        case 4 -> rank.cycle(one() * 10_000_000L);
        case 5 -> settle(peer(), one() % 3);
        case 6 -> peer().breaks();
        case 7 -> {
          ScriptedTransport.Peer peer = peer();
          peer.full = !peer.full;
        }
        case 8 -> rank.leave(one() % 2);
        case 9 -> says(peer(), like(one(), 1 + one() % 9, some(one() % 80)));
        case 10 -> echo();
        default -> grant();
      }
      return true;
    }

    /// Submits an operation, except under a name that is already in flight.
    private void submit(int which, int kind, String name, int elements) {
      try {
        Handle<?> unused = rank.submit(which, kind, name, elements);
      } catch (IllegalStateException inFlight) {
        if (!String.valueOf(inFlight.getMessage()).contains("in flight")) {
          throw inFlight;
        }
      }
    }

    /// Delivers a frame, except one that may be a count of rows for which there is enough memory:
    /// accepting it is correct but slow.
    private static void says(ScriptedTransport.Peer peer, byte[] frame) {
      if (frame.length == CollectiveFrame.HEADER_BYTES + Long.BYTES
          || frame.length == PartDescriptor.MESSAGE_BYTES) {
        long count = Long.reverseBytes(ByteBuffer.wrap(frame).getLong(frame.length - Long.BYTES));
        if (count > MANY_ROWS && count <= Long.MAX_VALUE / Float.BYTES) {
          return;
        }
      }
      peer.says(frame);
    }

    private void settle(ScriptedTransport.Peer peer, int how) {
      peer.settles(
          switch (how) {
            case 1 -> new TransportException.Refused("refused by the script", null);
            case 2 -> new TransportException.EndpointLost("lost by the script", null);
            default -> null;
          });
    }

    /// Sends back a message of this rank with some bytes changed.
    private void echo() {
      ScriptedTransport.Peer peer = peer();
      byte[] frame = sent(one()).clone();
      for (int changes = one() % 8; changes > 0 && frame.length > 0; changes--) {
        int at = one();
        frame[at % frame.length] ^= (byte) one();
      }
      int shorter = one() % 32;
      says(peer, Arrays.copyOf(frame, Math.max(0, frame.length - shorter)));
    }

    /// Sends a permission to write for an operation in flight.
    private void grant() {
      ScriptedTransport.Peer peer = peer();
      byte[] header = like(one(), 2, new byte[0]);
      var region = new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0};
      byte[] frame = Arrays.copyOf(header, CollectiveFrame.HEADER_BYTES + 76);
      System.arraycopy(region, 0, frame, CollectiveFrame.HEADER_BYTES, region.length);
      System.arraycopy(region, 0, frame, CollectiveFrame.HEADER_BYTES + 28, region.length);
      frame[CollectiveFrame.HEADER_BYTES + 64] = 4;
      frame[CollectiveFrame.HEADER_BYTES + 68] = (byte) ScriptedRank.SEGMENT_BYTES;
      for (int changes = one() % 8; changes > 0; changes--) {
        frame[CollectiveFrame.HEADER_BYTES + one() % 76] = (byte) one();
      }
      peer.says(frame);
    }

    /// Returns a message with the header of a message of this rank, another type and another body.
    private byte[] like(int which, int type, byte[] body) {
      byte[] header = Arrays.copyOf(sent(which), CollectiveFrame.HEADER_BYTES + body.length);
      header[1] = (byte) type;
      System.arraycopy(body, 0, header, CollectiveFrame.HEADER_BYTES, body.length);
      return header;
    }

    private byte[] sent(int which) {
      List<byte[]> sent = rank.transport().sent();
      return sent.isEmpty() ? new byte[] {0, 1} : sent.get(which % sent.size());
    }

    /// Returns the token of a grant that this rank has sent.
    private int token(int which) {
      List<Integer> tokens =
          rank.transport().sent().stream()
              .filter(frame -> frame.length > CollectiveFrame.HEADER_BYTES && frame[1] == 2)
              .map(frame -> Integer.reverseBytes(ByteBuffer.wrap(frame).getInt(20)))
              .toList();
      return tokens.isEmpty() ? which : tokens.get(which % tokens.size());
    }
  }
}
