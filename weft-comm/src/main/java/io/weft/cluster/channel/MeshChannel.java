// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.agent.AgentRunner;
import io.weft.cluster.Mesh;
import io.weft.cluster.MeshService;
import io.weft.cluster.PeerExit;
import io.weft.cluster.ServiceIds;
import io.weft.cluster.item.MessageWriter;
import io.weft.cluster.item.PeerQueue;
import io.weft.cluster.item.ReceivePool;
import io.weft.cluster.item.SendPool;
import io.weft.cluster.item.SubmissionQueue;
import io.weft.comm.CommException;
import io.weft.observer.OperationObserver;
import io.weft.observer.OperationStage;
import io.weft.transport.Capabilities;
import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.pool.SliceLease;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The requests and replies of one rank over its mesh (docs/protocol/channel.md). A duty cycle
/// groups the items for a peer into one message. Confined to the progress thread, except
/// `tryRequest`, `serve` and the methods that users of a request call.
public final class MeshChannel implements MeshService, RequestChannel {

  private static final Logger LOG = LoggerFactory.getLogger(MeshChannel.class);

  private final long memoryBytes;
  private final OptionalInt eagerBytes;
  private final SubmissionQueue<MeshChannel> submissions = new SubmissionQueue<>(this, false);
  private final Runnable leftRunner = this::runLeft;
  private final ChannelFrame.Reader in = new ChannelFrame.Reader();
  private final List<ChannelPeer> active = new ArrayList<>();
  private final List<OutboundRequest> draining = new ArrayList<>();
  private final List<InboundRequest.ReplyWrite> writing = new ArrayList<>();
  // Ended requests of peers, for which a read of the payload is still posted.
  private final List<InboundRequest> abandoned = new ArrayList<>();
  private final ChannelEvents events = new ChannelEvents();
  private volatile @Nullable Connected connected;
  private @Nullable CommException failure;
  private long earliest = Long.MAX_VALUE;
  private int open;
  private int leases;
  private final RequestHandlers handlers = new RequestHandlers();
  private volatile boolean busy;

  private record Connected(
      Mesh mesh,
      ChannelMessages messages,
      ChannelPeer[] peers,
      ReceivePool payloads,
      SendPool copies,
      PeerQueue.Form<ChannelFrame.Writer> form,
      JoinBuffer joined,
      Capabilities transport) {

    Connected with(ChannelPeer peer) {
      ChannelPeer[] more = Arrays.copyOf(peers, peers.length + 1);
      more[peers.length] = peer;
      return new Connected(mesh, messages, more, payloads, copies, form, joined, transport);
    }
  }

  /// Creates a channel without a mesh.
  ///
  /// @param memoryBytes maximum memory of unanswered payloads; further requests wait for room
  /// @param eagerBytes longest payload that travels in a message; empty for the transport's limit
  public MeshChannel(long memoryBytes, OptionalInt eagerBytes) {
    this.memoryBytes = memoryBytes;
    this.eagerBytes = Objects.requireNonNull(eagerBytes, "eagerBytes");
  }

  /// Sets the runner of the progress thread, before the first submission.
  public void runBy(AgentRunner owner) {
    submissions.runBy(owner);
  }

  /// Sets the observer, before the first submission.
  public void observedBy(OperationObserver all) {
    events.observedBy(all);
  }

  private Connected connected() {
    return Objects.requireNonNull(connected, "the mesh is not connected");
  }

  // --- any thread

  @Override
  public boolean tryRequest(int peer, Request request, Consumer<? super RequestOutcome> receiver) {
    ChannelPeer[] peers = connected().peers();
    if (peer < 0 || peer >= peers.length || peer == connected().mesh().rank()) {
      throw new IllegalArgumentException(
          "rank " + peer + " of " + peers.length + " cannot receive requests of this rank");
    }
    Objects.requireNonNull(receiver, "receiver");
    request.checkMemory();
    checkOpen();
    OutboundRequest asked = new OutboundRequest(this, peers[peer], request, receiver);
    if (!peers[peer].tryOpen()) {
      return false;
    }
    events.submitted(asked);
    submissions.submit(new ChannelSubmission.Asking(asked), leftRunner);
    return true;
  }

  @Override
  public void checkOpen() {
    if (submissions.isEndedInside()) {
      throw messages().afterLeaving();
    }
  }

  @Override
  public AgentRunner runner() {
    return submissions.runner();
  }

  @Override
  public void serve(int kind, RequestHandler server) {
    RequestChannel.checkKind(kind);
    Objects.requireNonNull(server, "handler");
    submit(() -> handlers.put(kind, server, connected().peers(), this::run));
  }

  /// Submits a command. Bounded by the open requests.
  void submit(Runnable command) {
    submissions.submit(new ChannelSubmission.Command(command), leftRunner);
  }

  /// Runs the remaining submissions, which fail, because the agent has ended.
  private void runLeft() {
    while (!submissions.isEmpty()) {
      int unused = submissions.enterAll();
    }
    closePool();
  }

  // --- for the parts of this channel

  /// Returns the memory for payloads that peers cannot read where they lie.
  SendPool copies() {
    return connected().copies();
  }

  @Override
  public long copiedBytes() {
    Connected on = connected;
    return on == null ? 0 : on.copies().copiedBytes();
  }

  MemoryRegion register(MemorySegment memory) {
    return connected().mesh().transport().register(memory, memory);
  }

  ChannelMessages messages() {
    return connected().messages();
  }

  Endpoint endpoint(ChannelPeer peer) {
    return connected().mesh().endpoint(peer.rank());
  }

  JoinBuffer joined() {
    return connected().joined();
  }

  @Override
  public ChannelEvents events() {
    return events;
  }

  /// Runs a user's callback, and logs an exception as a defect.
  void run(Runnable callback) {
    try {
      callback.run();
    } catch (RuntimeException | Error thrown) {
      LOG.error("rank {}: a callback of the channel threw, which is a defect", rank(), thrown);
    }
  }

  private int rank() {
    return connected().mesh().rank();
  }

  // --- requests of this rank

  void enter(OutboundRequest it) {
    Connected on = connected();
    events.reached(it, OperationStage.STARTED);
    CommException refusal = failure == null ? it.peer().goneBy() : failure;
    if (refusal == null && on.mesh().tokens().isFull()) {
      refusal = on.messages().tooMany();
    }
    if (refusal != null) {
      it.fail(refusal);
      return;
    }
    long deadline = on.mesh().attention().nanos() + it.limitNanos();
    deadline = deadline < 0 ? Long.MAX_VALUE : deadline;
    earliest = Math.min(earliest, deadline);
    try {
      int eager = ChannelFrame.eagerBytes(eagerBytes, on.transport());
      it.begin(on.mesh().tokens().take(it), deadline, eager);
      open++;
    } catch (RuntimeException | Error refused) {
      it.fail(on.messages().notRegistered(it, refused));
    }
  }

  /// Ends a request, if it has not ended. The receiver is notified when no peer accesses the
  /// request's memory any more.
  void end(OutboundRequest it, RequestOutcome with) {
    if (it.isEnded()) {
      return;
    }
    if (it.peer().asked().remove(it)) {
      open--;
    }
    if (connected().mesh().tokens().find(it.token()) == it) {
      connected().mesh().tokens().free(it.token());
    }
    it.end(with);
    if (it.isVisited()) {
      it.keepOutcome();
      draining.add(it);
    } else {
      run(it::tell);
    }
  }

  private void checkDeadlines(long attention) {
    if (attention < earliest) {
      return;
    }
    earliest = Long.MAX_VALUE;
    for (ChannelPeer peer : connected().peers()) {
      for (OutboundRequest it : List.copyOf(peer.asked())) {
        if (it.deadline() > attention) {
          earliest = Math.min(earliest, it.deadline());
        } else {
          withdraw(it);
        }
      }
    }
  }

  private void withdraw(OutboundRequest it) {
    if (it.hasLeft()) {
      int token = it.token();
      it.peer().post(message -> message.write(new ChannelFrame.Withdrawn(token)));
    }
    it.fail(messages().late(it));
  }

  // --- requests of peers

  /// Posts the answer to a peer's request and releases the request's memory.
  void answer(InboundRequest it, ChannelFrame with) {
    it.peer().post(message -> message.write(with));
    answered(it);
  }

  /// Ends a peer's request without an answer and releases its memory.
  void answered(InboundRequest it) {
    boolean unused = it.peer().count(-1);
    free(it);
  }

  void write(InboundRequest.ReplyWrite reply) {
    if (!reply.advance(this, connected().transport().maxTransferBytes())) {
      writing.add(reply);
    }
  }

  private void free(InboundRequest it) {
    if (it.isPosted()) {
      abandoned.add(it);
    } else if (it.hasMemory()) {
      giveBack(it);
    }
  }

  private void giveBack(InboundRequest it) {
    it.free();
    leases--;
  }

  private int serve(ChannelPeer peer) {
    int served = 0;
    long most = connected().transport().maxTransferBytes();
    for (InboundRequest it : peer.waiting()) {
      if (handlers.of(it) == null) {
        continue; // its payload would take memory from requests with a handler
      }
      if (it.needsMemory() && !lease(it)) {
        break;
      }
      if (it.hasMemory() && it.read(endpoint(peer), most)) {
        served++;
      }
    }
    InboundRequest next = handlers.first(peer.waiting());
    while (next != null && next.isReady() && !next.isPosted()) {
      InboundRequest it = next;
      peer.waiting().remove(it);
      deliver(it);
      served++;
      next = handlers.first(peer.waiting());
    }
    return served;
  }

  /// Leases memory, or refuses a request that can never fit. Returns false if the pool is full.
  private boolean lease(InboundRequest it) {
    ReceivePool payloads = connected().payloads();
    if (!payloads.fits(it.payloadBytes())) {
      it.refuse(messages().tooLong(it.payloadBytes(), payloads.mostBytes()));
      return true;
    }
    Optional<SliceLease> memory = payloads.tryLease(it.payloadBytes());
    if (memory.isEmpty()) {
      return false;
    }
    leases++;
    it.lands(memory.get());
    return true;
  }

  private void deliver(InboundRequest it) {
    String unreadable = it.unreadable();
    RequestHandler server = handlers.of(it);
    if (it.isWithdrawn() || server == null) {
      answered(it);
    } else if (unreadable != null) {
      answer(it, new ChannelFrame.Refused(it.token(), unreadable));
    } else {
      try {
        server.onRequest(it);
      } catch (RuntimeException | Error thrown) {
        LOG.error("rank {}: the handler of requests threw, which is a defect", rank(), thrown);
        it.broken(thrown);
      }
    }
  }

  // --- the service

  @Override
  public byte id() {
    return ServiceIds.CHANNEL;
  }

  @Override
  public boolean busy() {
    return busy;
  }

  @Override
  public boolean hasCommands() {
    return !submissions.isEmpty();
  }

  @Override
  public void onStart(Mesh mesh) {
    events.by(mesh::nanos);
    Capabilities transport = mesh.transport().capabilities();
    var peers = new ChannelPeer[mesh.topology().size()];
    for (int rank = 0; rank < peers.length; rank++) {
      peers[rank] = new ChannelPeer(rank, active);
    }
    connected =
        new Connected(
            mesh,
            new ChannelMessages(mesh),
            peers,
            new ReceivePool(mesh.transport(), memoryBytes),
            new SendPool(mesh.transport(), memoryBytes),
            form(Arena.ofAuto().allocate(transport.maxMessageBytes(), 64)),
            new JoinBuffer(transport.maxMessageBytes()),
            transport);
  }

  private static PeerQueue.Form<ChannelFrame.Writer> form(MemorySegment memory) {
    var message = new MessageWriter(ServiceIds.CHANNEL, memory);
    return new PeerQueue.Form<>(message, new ChannelFrame.Writer(message), MessageWriter.MAX_ITEMS);
  }

  @Override
  public void onPeerAdded(int rank) {
    connected = connected().with(new ChannelPeer(rank, active));
  }

  @Override
  public int work(long nowNanos) {
    Connected on = connected;
    if (on == null) {
      return 0;
    }
    int work = submissions.enterAll();
    checkDeadlines(on.mesh().attention().nanos());
    work +=
        ChannelPeer.removeIf(draining, this::isTold)
            + ChannelPeer.removeIf(abandoned, this::isFreed);
    work +=
        ChannelPeer.removeIf(writing, it -> it.advance(this, on.transport().maxTransferBytes()));
    boolean pending = false;
    int kept = 0;
    for (int i = 0; i < active.size(); i++) {
      ChannelPeer peer = active.get(i);
      work += serve(peer) + peer.flush(on.mesh(), on.form());
      pending |= peer.hasPending();
      if (peer.remainsActive()) {
        active.set(kept++, peer);
      }
    }
    active.subList(kept, active.size()).clear();
    // A rank with handlers waits for requests. Brief spinning reduces their latency, as that of
    // replies.
    busy =
        handlers.any()
            || pending
            || open > 0
            || !draining.isEmpty()
            || !writing.isEmpty()
            || !abandoned.isEmpty();
    return work;
  }

  private boolean isTold(OutboundRequest it) {
    if (it.isVisited()) {
      return false;
    }
    run(it::tell);
    return true;
  }

  private boolean isFreed(InboundRequest it) {
    if (it.isPosted()) {
      return false;
    }
    giveBack(it);
    return true;
  }

  @Override
  public void onMessage(int fromRank, MemorySegment message) {
    ChannelPeer from = connected().peers()[fromRank];
    in.begin(message);
    ChannelFrame frame = in.next();
    while (frame != null && !from.isGone()) {
      String wrong = hear(from, frame);
      if (wrong != null) {
        connected().mesh().drop(fromRank, wrong);
        return;
      }
      frame = in.next();
    }
    if (!in.isSound()) {
      connected().mesh().drop(fromRank, "it sent a message that the request channel cannot read");
    }
  }

  /// Handles an item. Returns the peer's violation of the protocol, or null.
  private @Nullable String hear(ChannelPeer from, ChannelFrame frame) {
    switch (frame) {
      case ChannelFrame.Asked asked -> {
        if (!from.count(1)) {
          return "it has more than " + MAX_OPEN + " requests open";
        }
        from.waiting().add(new InboundRequest(this, from, asked));
        from.activate();
      }
      case ChannelFrame.Answered answered -> {
        OutboundRequest it = own(from, answered.token());
        if (it != null && !it.isWritten(answered.written())) {
          return "it claims to have written data that it has not written";
        }
        if (it != null) {
          it.hear();
          end(it, new RequestOutcome.Replied(answered.body(), answered.written()));
        }
      }
      case ChannelFrame.Refused refused -> {
        OutboundRequest it = own(from, refused.token());
        if (it != null) {
          it.hear();
          it.fail(messages().refused(from.rank(), refused.why()));
        }
      }
      case ChannelFrame.Withdrawn withdrawn -> {
        for (InboundRequest it : from.waiting()) {
          if (it.token() == withdrawn.token()) {
            it.withdraw();
          }
        }
      }
    }
    return null;
  }

  /// Returns this rank's open request to this peer, or null for a late answer.
  private @Nullable OutboundRequest own(ChannelPeer from, int token) {
    OutboundRequest it = connected().mesh().tokens().find(token, OutboundRequest.class);
    return it != null && it.peer() == from ? it : null;
  }

  // --- failure

  @Override
  public boolean hasPending(int rank) {
    return connected != null && connected.peers()[rank].hasPending();
  }

  @Override
  public String onPeerGone(int rank, PeerExit how) {
    ChannelPeer peer = connected().peers()[rank];
    int asked = fail(peer, messages().gone(rank, how));
    peer.leave();
    return asked == 0 || how instanceof PeerExit.Left ? "" : asked + " requests to it";
  }

  /// Fails all requests from and to a peer. Returns the number of failed requests of this rank.
  private int fail(ChannelPeer peer, CommException cause) {
    if (peer.isGone() || peer.rank() == rank()) {
      return 0;
    }
    peer.quit(cause);
    List<OutboundRequest> asked = List.copyOf(peer.asked());
    asked.forEach(it -> it.fail(cause));
    for (InboundRequest it : List.copyOf(peer.waiting())) {
      it.withdraw();
      answered(it);
    }
    peer.waiting().clear();
    handlers.tellGone(peer.rank(), cause, this::run);
    return asked.size();
  }

  private void failAll(CommException cause) {
    if (connected != null && failure == null) {
      failure = cause;
      for (ChannelPeer peer : connected.peers()) {
        int unused = fail(peer, cause);
      }
      int unused = submissions.enterAll();
    }
  }

  @Override
  public void onExcluded(int witness, String why) {
    failAll(new CommException.Excluded(why, witness));
  }

  @Override
  public void onClose() {
    if (connected != null) {
      int unused = submissions.enterAll(); // so that submitted answers are sent
      failAll(connected.messages().closed());
    }
  }

  @Override
  public void onCrash(Throwable cause) {
    if (connected != null) {
      failAll(connected.messages().crashed(cause));
    }
  }

  @Override
  public void onClosing() {
    if (connected != null) {
      submissions.end(leftRunner);
    }
  }

  /// Closes the pool of payloads after the transport, unless a handler still uses a payload.
  private void closePool() {
    ChannelPeer.removeIf(draining, this::isTold);
    ChannelPeer.removeIf(abandoned, this::isFreed);
    connected().copies().end();
    if (leases == 0) {
      connected().payloads().close();
    }
  }
}
