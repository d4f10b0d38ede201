// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import io.weft.cluster.Member;
import io.weft.cluster.Mesh;
import io.weft.cluster.Topology;
import io.weft.collective.Tuning;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.group.Group;
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
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// What exchanges use of the mesh: messages and writes to the ranks of their communicator, tokens,
/// staging windows and the rule by which chunks are cut. Confined to the progress thread.
public final class CollectiveContext {

  /// Of `block`: few enough to stay in the first-level cache.
  public static final int BLOCK_BYTES = 16 << 10;

  private final Mesh mesh;
  private final Tuning tuning;
  private final TaskTokens tokens = new TaskTokens();
  private final StagingPool staging;
  private final Outbox outbox;
  private final MemorySegment receiveBuffer;
  private final BitSet sharingKernel;
  private final int hostSegmentBytes;
  private final MemorySegment block = Arena.ofAuto().allocate(BLOCK_BYTES, 64);

  public CollectiveContext(Mesh mesh, Tuning tuning, long keepBytes) {
    this.mesh = mesh;
    Capabilities transport = mesh.transport().capabilities();
    int longest = transport.maxMessageBytes();
    this.tuning = over(transport, tuning);
    this.staging = new StagingPool(mesh.transport(), tuning.windowBytes(), keepBytes);
    this.outbox = new Outbox(mesh, mesh.topology().size(), longest);
    this.sharingKernel = sharingKernel(mesh.topology(), mesh.rank(), transport);
    this.hostSegmentBytes = hostSegmentBytes(transport, this.tuning);
    this.receiveBuffer = Arena.ofAuto().allocate(Math.max(64, this.tuning.eagerBytes()), 64);
  }

  /// With an eager limit, which leaves room for a header in the transport's messages.
  private static Tuning over(Capabilities transport, Tuning asked) {
    int wanted =
        asked.eagerBytes() == Tuning.AUTO
            ? Math.min(transport.eagerBytes(), asked.segmentBytes())
            : asked.eagerBytes();
    int eager = Math.min(wanted, transport.maxMessageBytes() - CollectiveFrame.HEADER_BYTES);
    return new Tuning(eager, asked.segmentBytes(), asked.windowSlots());
  }

  /// The transport's piece, unless segments have another length than by default, or it is shorter
  /// than what is eager; not so long that a window would not hold it.
  private static int hostSegmentBytes(Capabilities transport, Tuning tuning) {
    int piece = transport.hostPieceBytes();
    boolean wanted = piece >= tuning.eagerBytes();
    return wanted && tuning.segmentBytes() == Tuning.DEFAULT.segmentBytes()
        ? (int) Math.min(piece, tuning.windowBytes())
        : tuning.segmentBytes();
  }

  private static BitSet sharingKernel(Topology topology, int rank, Capabilities transport) {
    String host = topology.members().get(rank).host();
    var sharing = new BitSet();
    for (Member peer : topology.members()) {
      sharing.set(peer.rank(), !transport.nativeOneSided() && peer.host().equals(host));
    }
    return sharing;
  }

  /// Whether what is on its way to this peer lies in the kernel of this host.
  public boolean sharesKernel(RunningOperation operation, int peer) {
    return sharingKernel.get(operation.group().world(peer));
  }

  public TaskTokens tokens() {
    return tokens;
  }

  public StagingPool staging() {
    return staging;
  }

  /// Sends the first `bytes` of the scratch to a world rank, now or later; nothing to one that is
  /// gone.
  public void send(int rank, long bytes) {
    outbox.send(rank, bytes);
  }

  /// Whether something waits until this world rank has room for it.
  public boolean hasPending(int rank) {
    return outbox.holds(rank);
  }

  /// Tries what waits; returns how much went.
  public int flush() {
    return outbox.flush();
  }

  /// Where a message is composed before `send`.
  public MemorySegment scratch() {
    return outbox.scratch();
  }

  public int windowSlots() {
    return tuning.windowSlots();
  }

  public long segmentBytes() {
    return tuning.segmentBytes();
  }

  /// The same between two ranks of this host.
  public long hostSegmentBytes() {
    return hostSegmentBytes;
  }

  public int eagerBytes() {
    return tuning.eagerBytes();
  }

  /// Kept bytes, in native memory until the next call.
  public MemorySegment land(byte[] kept) {
    MemorySegment.copy(MemorySegment.ofArray(kept), 0, receiveBuffer, 0, kept.length);
    return receiveBuffer.asSlice(0, kept.length);
  }

  public MemoryRegion register(MemorySegment segment, Object owner) {
    return mesh.transport().register(segment, owner);
  }

  /// A peer's memory, or null; see `Endpoint.map`.
  public @Nullable PeerMemory map(Group group, int peer, RemoteRegion region) {
    int world = group.world(peer);
    return mesh.isGone(world) ? null : mesh.endpoint(world).map(region);
  }

  /// Where sums grow that lie nowhere yet; the progress thread's, until the next use.
  public MemorySegment block() {
    return block;
  }

  /// Sends a control message whose body stands in the scratch; it is kept if there is no room now.
  public void send(
      RunningOperation operation,
      int peer,
      CollectiveFrame.Type type,
      int phase,
      int aux,
      long bytes) {
    CollectiveFrame.header(
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
  public boolean trySendEager(
      RunningOperation operation,
      int peer,
      int phase,
      MemorySegment from,
      long offset,
      long bytes) {
    MemorySegment frame = outbox.scratch();
    CollectiveFrame.header(
        frame,
        CollectiveFrame.Type.EAGER,
        operation.group().key(),
        phase,
        operation.signature().hash(),
        operation.key(),
        operation.sequence(),
        0);
    MemorySegment.copy(from, offset, frame, CollectiveFrame.HEADER_BYTES, bytes);
    return outbox.trySend(operation.group().world(peer), CollectiveFrame.HEADER_BYTES + bytes);
  }

  /// Hot path.
  public PostResult tryWrite(
      RunningOperation operation,
      int peer,
      Slice from,
      RemoteSlice into,
      int token,
      Completion done) {
    int world = operation.group().world(peer);
    if (mesh.isGone(world)) {
      return PostResult.CLOSED;
    }
    return mesh.endpoint(world).tryWrite(from, into, token, done);
  }
}
