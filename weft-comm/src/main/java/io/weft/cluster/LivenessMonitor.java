// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.agent.PolledClock;
import io.weft.cluster.watch.FailureDetector;
import io.weft.cluster.watch.Heartbeat;
import io.weft.cluster.watch.ProcessIdentity;
import io.weft.transport.Endpoint;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The monitor of the other ranks of a mesh. It sends heartbeats to idle peers, gives silent ranks
/// up, and describes the reasons. Confined to the progress thread.
final class LivenessMonitor {

  private static final Logger LOG = LoggerFactory.getLogger(LivenessMonitor.class);
  private static final long SECOND = 1_000_000_000L;
  private static final int MOST_NAMED = 4;
  private static final String UNKNOWN =
      "its process is stopped or in a long pause (garbage collection, debugger), or its host or the"
          + " network is gone";

  private final Mesh mesh;
  private final PeerTable peers;
  private final Heartbeat heartbeat;
  private final PolledClock clock;
  private final FailureDetector detector;
  private final MemorySegment heartbeatFrame = new MeshFrame.Heartbeat().encode();

  LivenessMonitor(Mesh mesh, PeerTable peers, Heartbeat heartbeat, PolledClock clock) {
    this.mesh = mesh;
    this.peers = peers;
    this.heartbeat = heartbeat;
    this.clock = clock;
    this.detector = new FailureDetector(heartbeat);
  }

  void begin(int peer, long nowNanos) {
    detector.begin(peer, nowNanos, clock.nanos());
  }

  /// Runs after each poll.
  ///
  /// Hot path.
  void poll(long nowNanos) {
    if (detector.isDue(nowNanos)) {
      look(nowNanos);
    }
  }

  private void look(long nowNanos) {
    long attention = clock.nanos();
    for (int peer = 0; peer < peers.size(); peer++) {
      Endpoint endpoint = mesh.live(peer);
      if (endpoint == null) {
        continue;
      }
      long received = endpoint.bytesReceived();
      switch (detector.look(peer, received, endpoint.bytesSent(), nowNanos, attention)) {
        case FINE -> {}
        case HEARTBEAT_DUE -> {
          // Without room, other messages are on their way, which serve equally well.
          var unused = endpoint.trySend(heartbeatFrame);
        }
        case SILENT -> giveUp(peer);
      }
    }
  }

  /// Returns the time of the peer's last sign of life, by the progress thread's clock.
  long lastSeen(int peer) {
    if (peers.at(peer).endpoint() == null) {
      return mesh.now(); // without a connection, silence proves nothing
    }
    Endpoint endpoint = mesh.live(peer);
    if (endpoint != null) {
      var unused =
          detector.look(
              peer, endpoint.bytesReceived(), endpoint.bytesSent(), mesh.now(), clock.nanos());
    }
    return detector.heardNanos(peer);
  }

  /// Returns whether no data has moved between this rank and the peer for a while, in either
  /// direction.
  boolean isStuck(int peer) {
    if (peers.at(peer).endpoint() == null) {
      return false;
    }
    long while_ = Math.max(SECOND, 2 * heartbeat.heartbeatNanos());
    boolean heard = heartbeat.heartbeatNanos() > 0 && mesh.now() - lastSeen(peer) <= while_;
    return !heard && mesh.now() - detector.sentNanos(peer) > while_;
  }

  /// Returns whether the peer has been silent for half the limit, so that its goodbye is not
  /// expected either.
  boolean isSilent(int peer) {
    var unused = lastSeen(peer);
    return heartbeat.heartbeatNanos() > 0
        && heartbeat.limitNanos() > 0
        && detector.silence(peer, clock.nanos()) > heartbeat.limitNanos() / 2;
  }

  /// Returns whether this rank recently stood still longer than the time after which others may
  /// give it up.
  boolean mayBeGivenUp() {
    long least =
        heartbeat.limitNanos() - heartbeat.heartbeatNanos() - heartbeat.heartbeatNanos() / 4;
    return heartbeat.limitNanos() > 0
        && clock.standstillNanos() >= least
        && clock.stoodStillSince(mesh.now() - SECOND);
  }

  /// Gives a silent peer up. If all other ranks, at least two, are silent and the state of the
  /// peer's process is unknown, this rank is considered cut off instead.
  private void giveUp(int peer) {
    String condition = condition(peer);
    String words =
        "no sign of life for "
            + seconds(detector.silence(peer, clock.nanos()))
            + " (limit "
            + seconds(heartbeat.limitNanos())
            + ", --silence-limit)";
    List<Integer> others =
        IntStream.range(0, peers.size())
            .filter(p -> p != peer && mesh.live(p) != null)
            .boxed()
            .toList();
    long almost =
        heartbeat.limitNanos() - heartbeat.heartbeatNanos() - heartbeat.heartbeatNanos() / 4;
    List<Integer> silent =
        others.stream().filter(p -> detector.silence(p, clock.nanos()) > almost).toList();
    if (condition.isEmpty() && !others.isEmpty() && silent.size() == others.size()) {
      mesh.cutOff(
          "is cut off: "
              + words
              + " from any of the "
              + (others.size() + 1)
              + " ranks that were left: "
              + names(peer, silent)
              + "; its network or theirs has failed; check these hosts for other failures");
      return;
    }
    mesh.lose(
        peer,
        words
            + "; its connection is open: "
            + (condition.isEmpty() ? UNKNOWN : condition)
            + (silent.isEmpty()
                ? ""
                : "; as silent: " + names(silent.getFirst(), silent.subList(1, silent.size()))));
  }

  // --- descriptions

  /// Logs that this rank itself stood still, if the standstill was long.
  void stoodStill(long nanos) {
    if (nanos < Math.max(SECOND, heartbeat.heartbeatNanos())) {
      return;
    }
    LOG.warn(
        "{} stood still for {}: a garbage collection, a debugger, a signal, no processor, or a"
            + " callback that blocked its progress thread{}",
        mesh.topology().describe(mesh.rank()),
        seconds(nanos),
        heartbeat.limitNanos() == 0
            ? ""
            : "; the others give a rank up after "
                + seconds(heartbeat.limitNanos())
                + " of silence (--silence-limit)");
  }

  private String names(int first, List<Integer> more) {
    return Stream.concat(Stream.of(first), more.stream())
            .limit(MOST_NAMED)
            .map(mesh.topology()::describe)
            .collect(Collectors.joining(", "))
        + (more.size() < MOST_NAMED ? "" : " and " + (more.size() + 1 - MOST_NAMED) + " more");
  }

  /// Describes the visible state of a rank's process; empty if nothing is known.
  private String condition(int peer) {
    Member silent = mesh.topology().members().get(peer);
    Member self = mesh.topology().members().get(mesh.rank());
    ProcessIdentity process = ProcessIdentity.parse(silent.process());
    return process == null || !silent.host().equals(self.host()) ? "" : process.condition();
  }

  String broken(int peer, String cause) {
    return "its connection broke, last sign of life "
        + seconds(mesh.now() - lastSeen(peer))
        + " before: "
        + cause;
  }

  String excluded(int witness, String why) {
    Topology topology = mesh.topology();
    return topology.describe(mesh.rank())
        + ", this rank, was given up by "
        + topology.describe(witness)
        + ": "
        + why
        + (clock.standstillNanos() > 0
            ? "; it last stood still for " + seconds(clock.standstillNanos())
            : "")
        + "; the others continue without it: end this process, and raise --silence-limit if such"
        + " pauses are expected";
  }

  /// Describes the presumed reason, if no other rank could report it.
  String presumed() {
    return "it stood still for "
        + seconds(clock.standstillNanos())
        + " (limit "
        + seconds(heartbeat.limitNanos())
        + ", --silence-limit), and its connections are closed";
  }

  static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.1f s", Math.max(0, nanos) / 1e9);
  }
}
