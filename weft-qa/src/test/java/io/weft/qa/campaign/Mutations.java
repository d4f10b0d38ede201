// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.campaign;

import io.weft.testkit.sim.network.Tamper;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Defects of the collective protocol. The simulated network sends the messages of a broken rank or
/// accepts messages in place of a broken rank. docs/protocol/collective.md lists the offsets.
final class Mutations {

  static final int EAGER = 1;
  static final int GRANT = 2;
  static final int CREDIT = 3;

  private static final int HEADER_BYTES = 32;
  private static final int COMMUNICATOR = 24;

  private Mutations() {}

  private static boolean is(int type, byte[] message) {
    return message.length >= HEADER_BYTES && message[0] == 0 && message[1] == type;
  }

  private static long communicator(byte[] message) {
    return MemorySegment.ofArray(message).get(ValueLayout.JAVA_LONG_UNALIGNED, COMMUNICATOR);
  }

  /// Returns the operation and exchange that a message belongs to.
  private static String exchange(byte[] message) {
    return message[2] + " " + Arrays.toString(Arrays.copyOfRange(message, 8, 20));
  }

  /// One rank omits the first messages of a type to one peer in one exchange.
  static final class Forgotten implements Tamper {
    private final int rank;
    private final int type;
    private final int most;
    private String where = "";
    private int forgotten;

    Forgotten(int rank, int type, int most) {
      this.rank = rank;
      this.type = type;
      this.most = most;
    }

    int forgotten() {
      return forgotten;
    }

    @Override
    public List<byte[]> message(int fromRank, int toRank, byte[] message) {
      if (fromRank != rank || !is(type, message) || forgotten == most) {
        return List.of(message);
      }
      String here = toRank + " " + exchange(message);
      if (!here.equals(where)) {
        where = here;
        forgotten = 0;
      }
      forgotten++;
      return List.of();
    }

    @Override
    public String toString() {
      return "rank " + rank + " forgetting " + most + (type == GRANT ? " GRANT" : " CREDIT");
    }
  }

  /// One rank sends one segment twice.
  static final class Doubled implements Tamper {
    private final int rank;
    private boolean done;

    Doubled(int rank) {
      this.rank = rank;
    }

    @Override
    public List<byte[]> message(int fromRank, int toRank, byte[] message) {
      if (done || fromRank != rank || !is(EAGER, message)) {
        return List.of(message);
      }
      done = true;
      return List.of(message, message);
    }

    @Override
    public String toString() {
      return "rank " + rank + " sending a segment twice";
    }
  }

  /// One rank writes one segment twice.
  static final class DoubledWrite implements Tamper {
    private final int rank;
    private boolean done;

    DoubledWrite(int rank) {
      this.rank = rank;
    }

    @Override
    public boolean tellsTwice(int fromRank, int toRank) {
      boolean now = !done && fromRank == rank;
      done |= now;
      return now;
    }

    @Override
    public String toString() {
      return "rank " + rank + " writing a segment twice";
    }
  }

  /// One rank accepts a segment of the previous epoch as one of its current epoch.
  static final class OldEpoch implements Tamper {
    private final Map<String, byte[]> before = new HashMap<>();
    private boolean done;

    @Override
    public List<byte[]> message(int fromRank, int toRank, byte[] message) {
      if (done || !is(EAGER, message)) {
        return List.of(message);
      }
      byte[] old = before.put(fromRank + " " + toRank, message);
      if (old == null || communicator(old) == communicator(message)) {
        return List.of(message);
      }
      done = true;
      byte[] accepted = old.clone();
      System.arraycopy(message, 0, accepted, 0, HEADER_BYTES);
      return List.of(accepted, message);
    }

    @Override
    public String toString() {
      return "a segment of an old epoch being accepted";
    }
  }

  /// All ranks accept another process of a rank in place of the connected one.
  static final class OldProcess implements Tamper {
    @Override
    public boolean takesOldForNew() {
      return true;
    }

    @Override
    public String toString() {
      return "an old process being accepted";
    }
  }
}
