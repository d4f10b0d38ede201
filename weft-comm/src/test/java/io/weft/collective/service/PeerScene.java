// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.Grant;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.transport.region.RegionTable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/// Rank 1 of three with its real collectives. The test makes up the frames of ranks 0 and 2, mostly
/// from frames that rank 1 has sent.
final class PeerScene implements AutoCloseable {

  static final int WORLD = 0;
  static final int PAIR = 1;
  static final int ALLREDUCE = 0;
  static final int BROADCAST = 1;
  static final int ALLGATHER = 2;
  static final int ALLTOALL = 3;
  static final int BY_RING = 4;
  static final int SHARED = 6;
  static final int SHARED_BROADCAST = 7;
  static final int SHARED_ALLGATHER = 8;
  static final int SHARED_ALLTOALL = 9;

  /// Longer than the eager limit of `ScriptedRank`, for each of two or three ranks.
  static final int LONG = 200;

  static final int EAGER = 1;
  static final int GRANT = 2;
  static final int CREDIT = 3;
  static final int ABORT = 5;
  static final int PROBE = 6;
  static final int SHARE = 8;
  static final int DONE = 9;

  final ScriptedRank rank = new ScriptedRank(new RegionTable("script"));
  final ScriptedTransport.Peer zero = rank.transport().peers().get(0);
  final ScriptedTransport.Peer two = rank.transport().peers().get(1);

  /// Submits operation `a` and runs one duty cycle.
  Handle<?> submit(int communicator, int kind, int elements) {
    Handle<?> handle = rank.submit(communicator, kind, "a", elements);
    rank.cycle(0);
    return handle;
  }

  /// Delivers a frame from rank 0 and runs one duty cycle.
  void says(byte[] frame) {
    zero.says(frame);
    rank.cycle(0);
  }

  /// Returns the first frame of this type that the rank has sent.
  ByteBuffer sent(int type) {
    List<byte[]> frames =
        rank.transport().sent().stream().filter(f -> f.length > 1 && f[1] == type).toList();
    assertThat(frames).as("frames of type " + type).isNotEmpty();
    return ByteBuffer.wrap(frames.getFirst()).order(ByteOrder.LITTLE_ENDIAN);
  }

  byte[] grant(long bytes, long base, int slots) {
    return grant(0, bytes, base, slots);
  }

  /// Returns a grant made from the one that the rank has sent.
  byte[] grant(int stageIndex, long bytes, long base, int slots) {
    byte[] frame =
        like(
            sent(GRANT), GRANT, new byte[(int) Grant.MESSAGE_BYTES - CollectiveFrame.HEADER_BYTES]);
    frame[2] = (byte) stageIndex;
    ByteBuffer.wrap(frame)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(CollectiveFrame.HEADER_BYTES + 8, bytes)
        .putLong(CollectiveFrame.HEADER_BYTES + 36, bytes)
        .putLong(CollectiveFrame.HEADER_BYTES + 56, base)
        .putInt(CollectiveFrame.HEADER_BYTES + 64, slots)
        .putLong(CollectiveFrame.HEADER_BYTES + 68, ScriptedRank.SEGMENT_BYTES);
    return frame;
  }

  /// Returns a frame of another type and body for the same operation.
  static byte[] like(ByteBuffer frame, int type, byte[] body) {
    byte[] like = Arrays.copyOf(frame.array(), CollectiveFrame.HEADER_BYTES + body.length);
    like[1] = (byte) type;
    System.arraycopy(body, 0, like, CollectiveFrame.HEADER_BYTES, body.length);
    return like;
  }

  static byte[] count(long rows) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(rows).array();
  }

  /// Returns the failure of an operation that is done; null if it succeeded.
  static CommException failure(Handle<?> handle) {
    assertThat(handle.isDone()).as("the operation is done").isTrue();
    var failure = new CommException[1];
    handle.whenDone((result, cause) -> failure[0] = cause);
    return failure[0];
  }

  @Override
  public void close() {
    rank.close();
  }
}
