// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.agent.AgentRunner;
import io.weft.cluster.Mesh;
import io.weft.cluster.MeshService;
import io.weft.cluster.PeerExit;
import io.weft.cluster.ProcessSet;
import io.weft.cluster.ServiceIds;
import io.weft.cluster.elastic.Agreement.Stand;
import io.weft.comm.CommException;
import io.weft.transport.PostResult;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// The membership of the job, epoch by epoch: this rank's part in the agreements of the survivors,
/// as a service of the mesh [ULFM §17.3]. A rank that learns of an agreement has its current epoch
/// revoked and should join the agreement.
public final class Membership implements MeshService {

  private final ShrinkQuorum quorum;
  private final EpochFollower follower;
  private final AtomicReference<@Nullable ShrinkAttempt> attempt = new AtomicReference<>();
  private @Nullable Mesh mesh;
  private @Nullable Agreement agreement;
  private MemorySegment frame = MemorySegment.NULL;
  private volatile @Nullable CommException stopped;
  private volatile Epoch current = new Epoch(0, ProcessSet.world(1));

  /// Number of ranks that began the job. Ranks that joined later are not in an epoch.
  private int first;

  /// An epoch and its members.
  public record Epoch(long number, ProcessSet members) {
    /// Throws `NullPointerException` if a component is null.
    public Epoch {
      Objects.requireNonNull(members, "members");
    }
  }

  /// Creates the service with this quorum. It notifies `follower` of the epochs.
  public Membership(ShrinkQuorum quorum, EpochFollower follower) {
    this.quorum = quorum;
    this.follower = follower;
  }

  /// The epoch that this rank has entered last. Any thread.
  public Epoch current() {
    return current;
  }

  /// Leaves the current epoch and enters the next one with all remaining ranks, which must call
  /// this too. Any thread except the progress thread, one at a time. Throws
  /// `CommException.TimedOut` after `limit` with the ranks that did not arrive; this rank is not in
  /// an epoch then, and may try again. Throws `CommException.Aborted` if the remaining ranks are
  /// too few or continued without this rank.
  public Epoch shrink(AgentRunner runner, Duration limit) throws InterruptedException {
    if (runner.isInside()) {
      throw new IllegalStateException("the progress thread itself must not wait for an agreement");
    }
    var mine = new ShrinkAttempt(limit, runner.nanos());
    if (!attempt.compareAndSet(null, mine)) {
      throw new IllegalStateException("another thread of this rank shrinks the job already");
    }
    CommException ended = stopped; // read after the attempt is visible: pairs with stop
    if (ended != null) {
      attempt.set(null);
      throw ended;
    }
    runner.commandQueued();
    mine.await(runner);
    return current;
  }

  // --- the service

  @Override
  public byte id() {
    return ServiceIds.MEMBERSHIP;
  }

  @Override
  public boolean busy() {
    return attempt.get() != null;
  }

  @Override
  public boolean hasCommands() {
    ShrinkAttempt pending = attempt.get();
    return pending != null && pending.waitsForRunner();
  }

  @Override
  public void onStart(Mesh connected) {
    int size = connected.topology().size();
    mesh = connected;
    if (connected.isLate()) {
      return;
    }
    first = size;
    agreement = Agreement.ofMember(connected.rank(), size, quorum);
    frame = Arena.ofAuto().allocate(StatementFrame.MOST_BYTES, 8);
    current = new Epoch(0, ProcessSet.world(size));
  }

  @Override
  public int work(long nowNanos) {
    Agreement state = agreement;
    if (state == null) {
      return 0;
    }
    ShrinkAttempt pending = attempt.get();
    if (pending != null) {
      if (pending.begin()) {
        follower.onRevoked(Reasons.revoked(mesh(), mesh().rank()));
        state.enter();
        dropCondemned(state, mesh().rank());
        settle(state);
      } else if (pending.overdue(nowNanos)) {
        CommException late = Reasons.late(mesh(), state, pending.limit());
        state.withdraw();
        end(late);
      }
    }
    return flush(state);
  }

  @Override
  public boolean hasPending(int rank) {
    Agreement state = agreement;
    return state != null && state.said() != null && state.nextPending(rank) == rank;
  }

  private int flush(Agreement state) {
    Statement said = state.said();
    int sent = 0;
    for (int peer = state.nextPending(0);
        said != null && peer >= 0;
        peer = state.nextPending(peer + 1)) {
      if (peer >= mesh().topology().size()) {
        break; // admitted by another rank; unknown to this mesh yet
      }
      boolean left = mesh().isGone(peer);
      if (!left) {
        MemorySegment message = StatementFrame.write(frame, said);
        left = mesh().endpoint(peer).trySend(message) != PostResult.BACK_PRESSURED;
      }
      if (left) {
        state.sent(peer);
        sent++;
      }
    }
    return sent;
  }

  @Override
  public void onMessage(int fromRank, MemorySegment message) {
    Agreement state = agreement;
    if (state == null) {
      return; // this rank is not in an epoch
    }
    Statement statement = StatementFrame.read(message, fromRank);
    if (statement == null) {
      mesh().drop(fromRank, "it sent an agreement that cannot be read");
      return;
    }
    follower.onAnnounced(fromRank, statement.view().target());
    state.onStatement(fromRank, statement);
    // Losses first, then the revocation, so that failing operations name the cause.
    dropCondemned(state, fromRank);
    if (state.revoked()) {
      follower.onRevoked(Reasons.revoked(mesh(), fromRank));
    }
    settle(state);
  }

  @Override
  public String onPeerGone(int rank, PeerExit how) {
    Agreement state = agreement;
    if (state == null || rank >= first) {
      return "";
    }
    state.onGone(rank, how instanceof PeerExit.Left);
    settle(state);
    return attempt.get() == null ? "" : "the agreement of the survivors";
  }

  @Override
  public void onExcluded(int witness, String why) {
    stop(new CommException.Excluded(why, witness));
  }

  private void dropCondemned(Agreement state, int by) {
    for (int peer = state.takeCondemned(); peer >= 0; peer = state.takeCondemned()) {
      if (peer < mesh().topology().size()) {
        mesh().drop(peer, mesh().topology().describe(by) + " has given it up");
      }
    }
  }

  private void settle(Agreement state) {
    if (state.stand() == Stand.EXCLUDED) {
      CommException excluded = Reasons.excluded(mesh(), state.excludedBy());
      follower.onRevoked(excluded);
      end(excluded);
    } else if (state.stand() == Stand.TOO_FEW) {
      end(Reasons.tooFew(mesh(), state));
    } else if (state.stand() == Stand.IDLE && state.epoch() > current.number()) {
      current = new Epoch(state.epoch(), state.members());
      follower.onEpoch(state.epoch(), state.members());
      end(null);
    }
  }

  private void end(@Nullable CommException failure) {
    ShrinkAttempt pending = attempt.get();
    if (pending != null && pending.begun()) {
      attempt.set(null);
      pending.end(failure);
    }
  }

  @Override
  public void onClose() {
    if (mesh != null) {
      stop(Reasons.closed(mesh));
    }
  }

  @Override
  public void onCrash(Throwable cause) {
    stop(Reasons.crashed(mesh(), cause));
  }

  private void stop(CommException why) {
    stopped = why; // volatile: pairs with shrink
    ShrinkAttempt pending = attempt.getAndSet(null);
    if (pending != null) {
      pending.end(why);
    }
  }

  @Override
  public void onClosing() {}

  private Mesh mesh() {
    return Objects.requireNonNull(mesh, "the mesh is not connected");
  }
}
