// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.watch;

import java.util.Arrays;

/// The detector of silent peers, and of peers to which this rank owes a sign of life.
///
/// It reads the byte counters of each peer, received and sent, eight times per heartbeat. Any
/// received byte is a sign of life, including a part of a long write. A heartbeat need not overtake
/// data queued before it, because that data is a sign of life as well when it arrives. Silence is
/// measured in the time in which this rank polled (`PolledClock`); the interval in which this rank
/// must send is measured in real time. Pure; confined to the progress thread.
public final class FailureDetector {

  private static final int LOOKS_PER_HEARTBEAT = 8;
  private static final long LOOK_NANOS_WITHOUT_HEARTBEATS = 125_000_000L;

  /// The result of a check of a peer.
  public enum Finding {
    /// No action is due.
    FINE,
    /// Nothing has been sent to the peer for a heartbeat, so one is due.
    HEARTBEAT_DUE,
    /// Nothing has been received for longer than the limit.
    SILENT
  }

  private final Heartbeat heartbeat;
  private final long lookNanos;
  private long[] received = {};
  private long[] sent = {};
  private long[] heardAttention = {};
  private long[] heardNanos = {};
  private long[] sentNanos = {};
  private long[] quietSinceNanos = {};
  private long lookedNanos;
  private long lookedBeforeNanos;
  private boolean looked;

  /// Creates a detector that watches no peers yet.
  public FailureDetector(Heartbeat heartbeat) {
    this.heartbeat = heartbeat;
    this.lookNanos =
        heartbeat.heartbeatNanos() == 0
            ? LOOK_NANOS_WITHOUT_HEARTBEATS
            : heartbeat.heartbeatNanos() / LOOKS_PER_HEARTBEAT;
  }

  /// Begins to watch a peer, which counts as alive at this moment.
  public void begin(int peer, long nowNanos, long attention) {
    if (peer >= received.length) {
      int capacity = Math.max(peer + 1, 2 * received.length);
      received = Arrays.copyOf(received, capacity);
      sent = Arrays.copyOf(sent, capacity);
      heardAttention = Arrays.copyOf(heardAttention, capacity);
      heardNanos = Arrays.copyOf(heardNanos, capacity);
      sentNanos = Arrays.copyOf(sentNanos, capacity);
      quietSinceNanos = Arrays.copyOf(quietSinceNanos, capacity);
    }
    heardAttention[peer] = attention;
    heardNanos[peer] = nowNanos;
    sentNanos[peer] = nowNanos;
    quietSinceNanos[peer] = nowNanos;
  }

  /// Returns whether a check of all peers is due. If so, schedules the next one.
  ///
  /// Hot path.
  public boolean isDue(long nowNanos) {
    long since = nowNanos - lookedNanos;
    if (looked && since >= 0 && since < lookNanos) {
      return false;
    }
    lookedBeforeNanos = looked ? lookedNanos : nowNanos;
    looked = true;
    lookedNanos = nowNanos;
    return true;
  }

  /// Checks one peer, given the bytes received from it and sent to it.
  public Finding look(int peer, long bytesReceived, long bytesSent, long nowNanos, long attention) {
    if (bytesReceived != received[peer]) {
      received[peer] = bytesReceived;
      heardAttention[peer] = attention;
      heardNanos[peer] = nowNanos;
    }
    if (bytesSent != sent[peer]) {
      sent[peer] = bytesSent;
      sentNanos[peer] = nowNanos;
      // The bytes may have been sent right after the previous check.
      quietSinceNanos[peer] = lookedBeforeNanos;
    }
    if (heartbeat.limitNanos() > 0 && silence(peer, attention) > heartbeat.limitNanos()) {
      return Finding.SILENT;
    }
    // The next check may be too late for a heartbeat.
    long quiet = nowNanos - quietSinceNanos[peer];
    boolean due = quiet < 0 || quiet + lookNanos >= heartbeat.heartbeatNanos();
    return heartbeat.heartbeatNanos() > 0 && due ? Finding.HEARTBEAT_DUE : Finding.FINE;
  }

  /// Length of the peer's silence, in the time in which this rank polled.
  public long silence(int peer, long attention) {
    return attention - heardAttention[peer];
  }

  /// Time of the last data from the peer, by the progress thread's clock.
  public long heardNanos(int peer) {
    return heardNanos[peer];
  }

  /// Time of the last data sent to the peer, by the progress thread's clock.
  public long sentNanos(int peer) {
    return sentNanos[peer];
  }
}
