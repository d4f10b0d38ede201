// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.qa.fuzz.FuzzTarget;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;

/// The statements that proved peers send to rank 0 in the agreement of the survivors. The first
/// byte selects the size of the job, 2 to 129. The statements follow, each as a byte for its sender
/// and a frame.
public final class StatementTarget implements FuzzTarget {

  private static final int MOST_STATEMENTS = 64;

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public StatementTarget() {}

  @Override
  public String name() {
    return "statement";
  }

  @Override
  public List<byte[]> seeds() {
    MembershipView all = MembershipView.ofWorld(3);
    MembershipView one = all.withTarget(1).without(2, false);
    MembershipView two = all.withTarget(2).without(2, true);
    return List.of(
        input(3, new Statement(Statement.Stage.PROPOSE, one, new BitSet()), 1),
        input(3, new Statement(Statement.Stage.COMMIT, one, new BitSet()), 1),
        input(3, new Statement(Statement.Stage.PROPOSE, joins(two.withTarget(1)), joiner()), 1));
  }

  private static MembershipView joins(MembershipView view) {
    return view.entered().withTarget(2).admitting(joiner());
  }

  private static BitSet joiner() {
    var joiner = new BitSet();
    joiner.set(7);
    return joiner;
  }

  /// Returns the same statement twice, and once as a commitment.
  private static byte[] input(int size, Statement statement, int from) {
    int bytes = StatementFrame.bytes(statement);
    byte[] frame = new byte[bytes];
    MemorySegment unused = StatementFrame.write(MemorySegment.ofArray(frame), statement);
    byte[] commitment = frame.clone();
    commitment[1] = (byte) Statement.Stage.COMMIT.code();
    return ByteBuffer.allocate(1 + 3 * (1 + bytes))
        .put((byte) (size - 2))
        .put((byte) from)
        .put(frame)
        .put((byte) from)
        .put(frame)
        .put((byte) from)
        .put(commitment)
        .array();
  }

  @Override
  public void decode(byte[] input) {
    if (input.length == 0) {
      return;
    }
    int size = 2 + (input[0] & 0x7f);
    var agreement = Agreement.ofMember(0, size, ShrinkQuorum.MAJORITY);
    agreement.enter();
    ByteBuffer in = ByteBuffer.wrap(input, 1, input.length - 1);
    // The size of a statement about ranks 0 to 63. The last statement may be longer.
    byte[] frame = new byte[24 + 5 * 8];
    for (int i = 0; i < MOST_STATEMENTS && in.remaining() > frame.length; i++) {
      int from = 1 + (in.get() & 0xff) % (size - 1);
      in.get(frame);
      Statement statement = StatementFrame.read(MemorySegment.ofArray(frame), from);
      if (statement != null) {
        check(statement, from);
        agreement.onStatement(from, statement);
      }
    }
    Statement whole = StatementFrame.read(MemorySegment.ofArray(input), 1);
    if (whole != null) {
      check(whole, 1);
    }
  }

  private static void check(Statement statement, int from) {
    MembershipView view = statement.view();
    if (!view.alive().get(from) || StatementFrame.bytes(statement) > StatementFrame.MOST_BYTES) {
      throw new AssertionError("took " + statement + " of rank " + from);
    }
    byte[] again = new byte[StatementFrame.bytes(statement)];
    MemorySegment written = StatementFrame.write(MemorySegment.ofArray(again), statement);
    if (!statement.equals(StatementFrame.read(written, from))) {
      throw new AssertionError("read back differently: " + statement);
    }
  }
}
