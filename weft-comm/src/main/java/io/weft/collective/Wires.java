// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.cluster.Mesh;
import io.weft.transport.Completion;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PeerMemory;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.spi.Capabilities;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// What exchanges use of the mesh: messages and writes to the ranks of their communicator, tokens,
/// staging windows and the rule by which chunks are cut. Confined to the lane's thread.
final class Wires {

  private final Mesh mesh;
  private final Tuning tuning;
  private final Tokens tokens = new Tokens();
  private final Staging staging;
  private final Outbox outbox;
  private final MemorySegment landing;
  private final MemorySegment block = Arena.ofAuto().allocate(DirectReduce.BLOCK_BYTES, 64);

  Wires(Mesh mesh, Tuning tuning, long keepBytes) {
    this.mesh = mesh;
    Capabilities transport = mesh.transport().capabilities();
    int longest = transport.maxMessageBytes();
    this.tuning = tuning.over(transport, Frame.HEADER_BYTES);
    this.staging = new Staging(mesh.transport(), tuning.windowBytes(), keepBytes);
    this.outbox = new Outbox(mesh, mesh.topology().size(), longest);
    this.landing = Arena.ofAuto().allocate(Math.max(64, this.tuning.eagerBytes()), 64);
  }

  Tokens tokens() {
    return tokens;
  }

  Staging staging() {
    return staging;
  }

  Outbox outbox() {
    return outbox;
  }

  /// Where a message's body is composed before `send`.
  MemorySegment scratch() {
    return outbox.scratch();
  }

  int windowSlots() {
    return tuning.windowSlots();
  }

  long segmentBytes() {
    return tuning.segmentBytes();
  }

  int eagerBytes() {
    return tuning.eagerBytes();
  }

  /// Segments of a chunk; an empty one has one empty segment, which keeps the order.
  int segments(long chunkBytes) {
    return (int) Math.max(1, (chunkBytes + tuning.segmentBytes() - 1) / tuning.segmentBytes());
  }

  long segmentBytes(long chunkBytes, int segment) {
    return Math.min(tuning.segmentBytes(), chunkBytes - (long) segment * tuning.segmentBytes());
  }

  /// Kept bytes, in native memory until the next call.
  MemorySegment land(byte[] kept) {
    MemorySegment.copy(MemorySegment.ofArray(kept), 0, landing, 0, kept.length);
    return landing.asSlice(0, kept.length);
  }

  MemoryRegion register(MemorySegment segment, Object owner) {
    return mesh.transport().register(segment, owner);
  }

  /// A peer's memory, or null; see `Endpoint.map`.
  @Nullable PeerMemory map(Operation<?> operation, int peer, RemoteRegion region) {
    int world = operation.group().world(peer);
    return mesh.isGone(world) ? null : mesh.endpoint(world).map(region);
  }

  /// Where sums grow that lie nowhere yet; the lane's, until the next use.
  MemorySegment block() {
    return block;
  }

  /// Sends a control message whose body stands in the scratch; it is kept if there is no room now.
  void send(Operation<?> operation, int peer, Frame.Type type, int phase, int aux, long bytes) {
    Frame.header(
        outbox.scratch(),
        type,
        operation.group().key(),
        phase,
        operation.signature().hash(),
        operation.key(),
        operation.sequence(),
        aux);
    outbox.send(operation.group().world(peer), bytes);
  }

  /// Sends a segment inside a message, or nothing.
  ///
  /// Hot path.
  boolean trySendEager(
      Operation<?> operation, int peer, int phase, MemorySegment from, long offset, long bytes) {
    MemorySegment frame = outbox.scratch();
    Frame.header(
        frame,
        Frame.Type.EAGER,
        operation.group().key(),
        phase,
        operation.signature().hash(),
        operation.key(),
        operation.sequence(),
        0);
    MemorySegment.copy(from, offset, frame, Frame.HEADER_BYTES, bytes);
    return outbox.trySend(operation.group().world(peer), Frame.HEADER_BYTES + bytes);
  }

  /// Hot path.
  PostResult tryWrite(
      Operation<?> operation, int peer, Slice from, RemoteSlice into, int token, Completion done) {
    int world = operation.group().world(peer);
    if (mesh.isGone(world)) {
      return PostResult.CLOSED;
    }
    return mesh.endpoint(world).tryWrite(from, into, token, done);
  }
}
