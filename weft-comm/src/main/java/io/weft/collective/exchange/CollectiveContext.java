// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import io.weft.cluster.Member;
import io.weft.cluster.Mesh;
import io.weft.cluster.TokenTable;
import io.weft.cluster.Topology;
import io.weft.collective.Tuning;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.group.Group;
import io.weft.collective.plan.RankSchedule;
import io.weft.transport.Capabilities;
import io.weft.transport.Completion;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PeerMemory;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The services of the mesh that exchanges use: messages and writes to the ranks of their
/// communicator, tokens, staging windows and the rule by which chunks are cut. Confined to the
/// progress thread.
public final class CollectiveContext {

  private final Mesh mesh;
  private final StagingPool staging;
  private final Outbox outbox;
  private final int landingBytes;
  private final BitSet sharingKernel;
  private final AdditionTree sums;
  private final List<MemorySegment> landings = new ArrayList<>();
  private final AtomicLong mappedBytes = new AtomicLong();

  /// @param keepBytes the idle staging memory that is kept
  /// @param blockBytes the memory for the inner nodes of `sums`
  public CollectiveContext(Mesh mesh, long keepBytes, long blockBytes) {
    this.mesh = mesh;
    this.sums = new AdditionTree(blockBytes);
    Capabilities transport = mesh.transport().capabilities();
    int longest = transport.maxMessageBytes();
    this.staging = new StagingPool(mesh.transport(), keepBytes);
    this.outbox = new Outbox(mesh, mesh.topology().size(), longest);
    this.sharingKernel = sharingKernel(mesh.topology(), mesh.rank(), transport);
    this.landingBytes = Math.max(64, longest);
  }

  public void onPeerAdded(int rank) {
    outbox.add(rank);
  }

  /// Returns the length of the longest chunk sent inside messages, which leaves room for a header
  /// in the transport's message.
  public int eagerBytes(RunningOperation operation) {
    Capabilities transport = mesh.transport().capabilities();
    Tuning tuning = operation.signature().tuning();
    int wanted = tuning.eagerBytes() == Tuning.AUTO ? transport.eagerBytes() : tuning.eagerBytes();
    return Math.min(wanted, transport.maxMessageBytes() - CollectiveFrame.HEADER_BYTES);
  }

  private static BitSet sharingKernel(Topology topology, int rank, Capabilities transport) {
    String host = topology.members().get(rank).host();
    var sharing = new BitSet();
    for (Member peer : topology.members()) {
      sharing.set(peer.rank(), !transport.nativeOneSided() && peer.host().equals(host));
    }
    return sharing;
  }

  public TokenTable tokens() {
    return mesh.tokens();
  }

  public StagingPool staging() {
    return staging;
  }

  /// Sends the first `bytes` of the scratch to a world rank, now or later. Sends nothing to a rank
  /// that is gone.
  public void send(int rank, long bytes) {
    outbox.send(rank, bytes);
  }

  /// Returns whether a message waits until this world rank has room for it.
  public boolean hasPending(int rank) {
    return outbox.holds(rank);
  }

  public int flush() {
    return outbox.flush();
  }

  /// Returns the memory in which a message is composed before `send`.
  public MemorySegment scratch() {
    return outbox.scratch();
  }

  /// Returns whether two ranks exchange in each round through their host's kernel, so that neither
  /// may be far ahead of the other.
  public boolean keepsStep(RunningOperation operation, RankSchedule schedule) {
    return schedule.keepsStep()
        && sharingKernel.get(operation.group().world(schedule.outgoing().getFirst().peer()));
  }

  /// Copies kept bytes to native memory, and returns it. It is valid until the next call for this
  /// place.
  ///
  /// @param place from 0, one for each run that is combined at the same time
  public MemorySegment land(byte[] kept, int place) {
    while (landings.size() <= place) {
      landings.add(Arena.ofAuto().allocate(landingBytes, 64));
    }
    MemorySegment landing = landings.get(place);
    MemorySegment.copy(MemorySegment.ofArray(kept), 0, landing, 0, kept.length);
    return landing.asSlice(0, kept.length);
  }

  public MemoryRegion register(MemorySegment segment, Object owner) {
    return mesh.transport().register(segment, owner);
  }

  /// Returns a peer's memory, or null; see `Endpoint.map`.
  public @Nullable PeerMemory map(Group group, int peer, RemoteRegion region) {
    int world = group.world(peer);
    return mesh.isGone(world) ? null : mesh.endpoint(world).map(region);
  }

  /// Counts bytes that an operation has read and written in memory of peers.
  ///
  /// Hot path.
  public void countMapped(long bytes) {
    mappedBytes.setOpaque(mappedBytes.getPlain() + bytes);
  }

  /// Returns the bytes counted by `countMapped`. Any thread.
  public long mappedBytes() {
    return mappedBytes.getOpaque();
  }

  /// Returns the tree that combines contributions of several ranks in memory.
  public AdditionTree sums() {
    return sums;
  }

  /// Sends a control message whose body is in the scratch. The message is queued if there is no
  /// room.
  public void send(
      RunningOperation operation,
      int peer,
      CollectiveFrame.Type type,
      int stageIndex,
      int aux,
      long bytes) {
    CollectiveFrame.header(
        outbox.scratch(),
        type,
        operation.group().key(),
        stageIndex,
        operation.signature().hash(),
        operation.key(),
        operation.sequence(),
        aux);
    outbox.send(operation.group().world(peer), bytes);
  }

  /// Sends a segment inside a message, or returns false and sends nothing.
  ///
  /// Hot path.
  public boolean trySendEager(
      RunningOperation operation,
      int peer,
      int stageIndex,
      MemorySegment from,
      long offset,
      long bytes) {
    MemorySegment frame = outbox.scratch();
    CollectiveFrame.header(
        frame,
        CollectiveFrame.Type.EAGER,
        operation.group().key(),
        stageIndex,
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
