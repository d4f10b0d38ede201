// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.agent.AgentRunner;
import io.weft.cluster.Mesh;
import io.weft.cluster.MeshService;
import io.weft.cluster.PeerExit;
import io.weft.cluster.ServiceIds;
import io.weft.cluster.item.MessageWriter;
import io.weft.cluster.item.PeerQueue;
import io.weft.cluster.item.Submission;
import io.weft.cluster.item.SubmissionQueue;
import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.Observers;
import io.weft.observer.OperationObserver;
import io.weft.observer.OperationStage;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousCounts;
import io.weft.rendezvous.RendezvousOptions;
import io.weft.rendezvous.TransferQueue;
import io.weft.rendezvous.TransferRequests;
import io.weft.rendezvous.frame.ItemWriter;
import io.weft.rendezvous.route.LocalLease;
import io.weft.rendezvous.route.ReceiveBuffers;
import io.weft.rendezvous.route.Routes;
import io.weft.rendezvous.route.SendBuffers;
import io.weft.tensor.TensorView;
import io.weft.transport.Capabilities;
import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The rendezvous of one rank over its mesh: a table at each source, and requests from each
/// destination (docs/protocol/rendezvous.md). A duty cycle groups the items for a peer into one
/// message. Confined to the progress thread, except `client` and the methods that it calls.
public final class MeshRendezvous implements MeshService {

  private static final Logger LOG = LoggerFactory.getLogger(MeshRendezvous.class);

  private final RendezvousOptions options;
  private final SubmissionQueue<MeshRendezvous> submissions;
  private final Runnable leftRunner = this::runLeft;
  private final Routes routes = new Routes();
  private final OpenSteps steps = new OpenSteps();
  private final PendingTable table = new PendingTable();
  private final RendezvousCounters traffic = new RendezvousCounters();
  private final RendezvousInbound listener = new RendezvousInbound(this);
  private final StepTermination termination = new StepTermination(this);
  private final Rendezvous client = new RendezvousClient(this);
  private final ArrayDeque<PendingReceive> due = new ArrayDeque<>();
  private final ArrayDeque<Runnable> later = new ArrayDeque<>();
  private final List<RendezvousPeer> talking = new ArrayList<>();
  private final AtomicInteger lent = new AtomicInteger();
  private final AtomicLong transfers = new AtomicLong();
  private OperationObserver observer = new Observers();
  private volatile @Nullable Connected connected;
  private volatile RendezvousCounts counts = RendezvousCounts.NONE;
  private volatile boolean busy;
  private volatile boolean entering;

  private record Connected(
      Mesh mesh,
      RendezvousMessages words,
      RendezvousPeer[] peers,
      ReceiveBuffers receiveBuffers,
      SendBuffers sendBuffers,
      SourceSide source,
      DestinationSide destination,
      PeerQueue.Form<ItemWriter> form) {

    Connected with(RendezvousPeer peer) {
      RendezvousPeer[] more = Arrays.copyOf(peers, peers.length + 1);
      more[peers.length] = peer;
      return new Connected(
          mesh, words, more, receiveBuffers, sendBuffers, source, destination, form);
    }
  }

  /// Creates the service with these options.
  public MeshRendezvous(RendezvousOptions options) {
    this.options = options;
    submissions = new SubmissionQueue<>(this, options.queue() == TransferQueue.LOCKED);
  }

  /// Sets the runner of the progress thread, before the first submission.
  public void runBy(AgentRunner runner) {
    submissions.runBy(runner);
  }

  /// Sets the observer, before the first submission.
  public void observedBy(OperationObserver all) {
    observer = all;
  }

  /// Returns the number of a new receive or publication, for its events. Any thread.
  long nextTransfer() {
    return transfers.incrementAndGet();
  }

  /// Returns the time. Any thread.
  long watchedNanos() {
    return connected().mesh().nanos();
  }

  /// Notifies the observer of a submission. Any thread.
  void submitted(ObservedOperation it) {
    observer.submitted(it);
  }

  void reached(ObservedOperation it, OperationStage stage) {
    if (stage == OperationStage.STARTED || observer.hearsStages()) {
      observer.reached(it, stage, 0, connected().mesh().nanos());
    }
  }

  void ended(ObservedOperation it, @Nullable CommException failure) {
    observer.ended(it, failure, connected().mesh().nanos());
  }

  private Connected connected() {
    return Objects.requireNonNull(connected, "the mesh is not connected");
  }

  /// The rendezvous for its users. Any thread.
  public Rendezvous client() {
    return client;
  }

  /// The current state and the totals. Any thread.
  RendezvousCounts counts() {
    boolean queued = !submissions.isEmpty() || entering; // in this order, and before the counts
    RendezvousCounts seen = counts;
    return new RendezvousCounts(
        queued ? 1 : 0,
        seen.steps(),
        seen.published(),
        seen.waiting(),
        seen.parked(),
        seen.draining(),
        lent.get() + connected().receiveBuffers().leases(),
        new RendezvousCounts.Totals(
            traffic.tensors(),
            traffic.requests(),
            traffic.messages(),
            connected().receiveBuffers().registrations(),
            connected().sendBuffers().copiedBytes()));
  }

  @Override
  public byte id() {
    return ServiceIds.RENDEZVOUS;
  }

  @Override
  public boolean busy() {
    return busy;
  }

  @Override
  public boolean hasCommands() {
    return !submissions.isEmpty();
  }

  // --- for the parts of this service

  int rank() {
    return connected().mesh().rank();
  }

  RendezvousMessages words() {
    return connected().words();
  }

  OpenSteps steps() {
    return steps;
  }

  PendingTable table() {
    return table;
  }

  Routes routes() {
    return routes;
  }

  RendezvousCounters traffic() {
    return traffic;
  }

  SourceSide source() {
    return connected().source();
  }

  DestinationSide destination() {
    return connected().destination();
  }

  RendezvousPeer peer(int rank) {
    return connected().peers()[rank];
  }

  int size() {
    return connected().peers().length;
  }

  Endpoint endpoint(RendezvousPeer peer) {
    return connected().mesh().endpoint(peer.rank());
  }

  MemoryRegion register(TensorView tensor) {
    return connected().mesh().transport().register(tensor.data(), tensor);
  }

  /// The time in which this rank polled.
  long attention() {
    return connected().mesh().attention().nanos();
  }

  StepTermination termination() {
    return termination;
  }

  void mistrust(RendezvousPeer peer, String why) {
    connected().mesh().drop(peer.rank(), why);
  }

  /// Removes the side from its step, and from the table if it is in it.
  void leave(PendingSide it) {
    OpenStep step = it.step;
    if (step != null) {
      table.remove(it, step);
      step.remove(it);
    }
  }

  /// Schedules the notification of a receiver for the end of the duty cycle.
  void due(PendingReceive it) {
    due.add(it);
  }

  /// Schedules an attempt for the next duty cycle.
  void later(Runnable attempt) {
    later.add(attempt);
  }

  Arrival lend(Publication it) {
    TensorView tensor = it.tensor;
    if (tensor == null) {
      source().finish(it);
      return new Arrival.Dead();
    }
    source().handOver(it);
    return new Arrival.Live(new LocalLease(tensor, it.release(), lent));
  }

  /// Runs a user's callback, and logs an exception as a defect.
  void run(Runnable callback) {
    try {
      callback.run();
    } catch (RuntimeException | Error e) {
      LOG.error("a callback of the rendezvous on rank {} threw, which is a defect", rank(), e);
    }
  }

  // --- the progress thread

  @Override
  public void onStart(Mesh mesh) {
    int size = mesh.topology().size();
    Capabilities transport = mesh.transport().capabilities();
    var peers = new RendezvousPeer[size];
    for (int rank = 0; rank < size; rank++) {
      peers[rank] = new RendezvousPeer(rank, talking);
    }
    var receiveBuffers = new ReceiveBuffers(mesh.transport(), options.memoryBytes(), routes);
    var sendBuffers = new SendBuffers(mesh.transport(), options.memoryBytes(), routes);
    MemorySegment message = Arena.ofAuto().allocate(transport.maxMessageBytes(), 64);
    connected =
        new Connected(
            mesh,
            new RendezvousMessages(mesh),
            peers,
            receiveBuffers,
            sendBuffers,
            new SourceSide(this, mesh.tokens(), sendBuffers, options, transport),
            new DestinationSide(this, mesh.tokens(), receiveBuffers, options, transport),
            form(message));
  }

  private PeerQueue.Form<ItemWriter> form(MemorySegment memory) {
    int most = options.requests() == TransferRequests.FUSED ? MessageWriter.MAX_ITEMS : 1;
    var message = new MessageWriter(ServiceIds.RENDEZVOUS, memory);
    return new PeerQueue.Form<>(message, new ItemWriter(message), most);
  }

  @Override
  public void onPeerAdded(int rank) {
    connected = connected().with(new RendezvousPeer(rank, talking));
  }

  @Override
  public int work(long nowNanos) {
    Connected on = connected;
    if (on == null) {
      return 0;
    }
    int work = on.receiveBuffers().collect() + on.sendBuffers().collect() + enterAll();
    work += on.source().retry() + on.destination().retry();
    for (int attempts = later.size(); attempts > 0; attempts--) {
      later.remove().run();
    }
    on.destination().checkDeadlines(attention());
    work += flush(on) + tellAll();
    count(on);
    return work;
  }

  /// Any thread.
  ///
  /// Hot path.
  void submit(Submission<MeshRendezvous> submission) {
    submissions.submit(submission, leftRunner);
  }

  private int enterAll() {
    if (submissions.isEmpty()) {
      return 0;
    }
    entering = true; // until they are counted
    return submissions.enterAll();
  }

  /// Enters a submission. An exception ends this submission and no other.
  void enter(Submission<MeshRendezvous> submission) {
    submissions.enter(submission);
  }

  private int flush(Connected on) {
    int sent = 0;
    int kept = 0;
    for (int i = 0; i < talking.size(); i++) {
      RendezvousPeer peer = talking.get(i);
      sent += peer.isGone() ? 0 : peer.flush(on.mesh(), on.form(), traffic);
      if (peer.hasPending()) {
        talking.set(kept++, peer);
      } else {
        peer.hush();
      }
    }
    talking.subList(kept, talking.size()).clear();
    return sent;
  }

  private int tellAll() {
    int told = 0;
    for (PendingReceive it = due.poll(); it != null; it = due.poll()) {
      run(it::tell);
      told++;
    }
    return told;
  }

  private void count(Connected on) {
    SourceSide source = on.source();
    DestinationSide destination = on.destination();
    int draining =
        source.draining()
            + destination.draining()
            + on.receiveBuffers().leaving()
            + on.sendBuffers().leaving();
    busy = destination.waiting() > 0 || source.isBusy() || draining > 0 || !talking.isEmpty();
    RendezvousCounts seen = counts;
    if (seen.steps() != steps.size()
        || seen.published() != source.held()
        || seen.waiting() != destination.waiting()
        || seen.parked() != source.parked()
        || seen.draining() != draining) {
      counts =
          new RendezvousCounts(
              0,
              steps.size(),
              source.held(),
              destination.waiting(),
              source.parked(),
              draining,
              0,
              RendezvousCounts.NONE.totals());
    }
    if (entering) {
      entering = false;
    }
  }

  // --- failure

  @Override
  public String onPeerGone(int rank, PeerExit how) {
    return switch (how) {
      case PeerExit.Left _ -> {
        String unused = termination.lose(rank, words().left(rank));
        yield "";
      }
      case PeerExit.Lost lost -> termination.lose(rank, words().lost(rank, lost));
    };
  }

  @Override
  public void onExcluded(int witness, String why) {
    termination.failAll(new CommException.Excluded(why, witness));
  }

  @Override
  public boolean hasPending(int rank) {
    return connected != null && peer(rank).hasPending();
  }

  @Override
  public void onClose() {
    if (connected != null) {
      for (RendezvousPeer peer : connected.peers()) {
        peer.quit();
      }
      termination.failAll(words().closed());
      int unused = enterAll() + tellAll();
      count(connected);
    }
  }

  @Override
  public void onCrash(Throwable cause) {
    if (connected != null) {
      termination.failAll(words().crashed(cause));
      int unused = enterAll() + tellAll();
      count(connected);
    }
  }

  @Override
  public void onClosing() {
    Connected on = connected;
    if (on != null) {
      submissions.end(leftRunner);
      on.receiveBuffers().end();
      on.sendBuffers().end();
    }
  }

  /// Runs the remaining submissions, which fail, because the agent has ended.
  private void runLeft() {
    do {
      int unused = enterAll() + tellAll();
      count(connected());
    } while (!submissions.isEmpty());
  }

  /// Throws `CommException.Aborted` in a callback that receives or publishes after this rank has
  /// left the job.
  void requireNotOver() {
    if (submissions.isEndedInside()) {
      throw words().afterLeaving();
    }
  }

  // --- messages

  @Override
  public void onMessage(int fromRank, MemorySegment message) {
    listener.onMessage(peer(fromRank), message);
  }
}
