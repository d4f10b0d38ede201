// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.qa.fuzz.FuzzTarget;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;

/// What proved peers say in the agreement of the survivors, to rank 0. The first byte says how many
/// ranks the job has, 2 to 129; then come statements, each a byte for its sender and the frame.
public final class StatementTarget implements FuzzTarget {

  private static final int MOST_STATEMENTS = 64;

  /// For the fuzzer.
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
        input(3, new Statement(Statement.Stage.PROPOSE, one), 1),
        input(3, new Statement(Statement.Stage.COMMIT, one), 1),
        input(3, new Statement(Statement.Stage.PROPOSE, two.withBase(1, two.alive())), 1));
  }

  /// The same statement twice, and once as a commitment.
  private static byte[] input(int size, Statement statement, int from) {
    int bytes = StatementFrame.bytes(size);
    byte[] frame = new byte[bytes];
    StatementFrame.write(MemorySegment.ofArray(frame), statement, size);
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
    var agreement = new Agreement(0, size, ShrinkQuorum.MAJORITY);
    agreement.enter();
    ByteBuffer in = ByteBuffer.wrap(input, 1, input.length - 1);
    byte[] frame = new byte[StatementFrame.bytes(size)];
    for (int i = 0; i < MOST_STATEMENTS && in.remaining() > frame.length; i++) {
      int from = 1 + (in.get() & 0xff) % (size - 1);
      in.get(frame);
      Statement statement = StatementFrame.read(MemorySegment.ofArray(frame), from, size);
      if (statement != null) {
        check(statement, from, size);
        agreement.onStatement(from, statement);
      }
    }
    Statement tooShort = StatementFrame.read(MemorySegment.ofArray(input), 1, size);
    if (tooShort != null && input.length != frame.length) {
      throw new AssertionError("took a statement of " + input.length + " bytes");
    }
  }

  private static void check(Statement statement, int from, int size) {
    MembershipView view = statement.view();
    BitSet said = (BitSet) view.members().clone();
    said.or(view.gone());
    said.or(view.left());
    if (said.length() > size || !view.alive().get(from)) {
      throw new AssertionError("took " + statement + " of rank " + from);
    }
    byte[] again = new byte[StatementFrame.bytes(size)];
    StatementFrame.write(MemorySegment.ofArray(again), statement, size);
    if (!statement.equals(StatementFrame.read(MemorySegment.ofArray(again), from, size))) {
      throw new AssertionError("read back differently: " + statement);
    }
  }
}
