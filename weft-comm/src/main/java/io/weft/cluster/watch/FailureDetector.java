// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.watch;

import java.util.Arrays;

/// Who shows a sign of life, who is silent, and to whom this rank owes a sign of life itself.
///
/// It looks at the bytes that came from each peer and left for it, eight times per heartbeat. So
/// whatever arrives is a sign of life, also a part of a long write; and a heartbeat need not
/// overtake what is queued before it, because that is a sign of life as well when it arrives.
/// Silence is measured in the time in which this rank looked (`AttentionClock`); what this rank
/// owes others, in real time. Pure; confined to the progress thread.
public final class FailureDetector {

  private static final int LOOKS_PER_HEARTBEAT = 8;
  private static final long LOOK_NANOS_WITHOUT_HEARTBEATS = 125_000_000L;

  /// What a look at a peer found.
  public enum Finding {
    /// Nothing is to be done.
    FINE,
    /// Nothing has left for the peer for a heartbeat: send one.
    HEARTBEAT_DUE,
    /// Nothing has come for longer than the limit.
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

  /// Of a rank that looks at nobody yet.
  public FailureDetector(Heartbeat heartbeat) {
    this.heartbeat = heartbeat;
    this.lookNanos =
        heartbeat.heartbeatNanos() == 0
            ? LOOK_NANOS_WITHOUT_HEARTBEATS
            : heartbeat.heartbeatNanos() / LOOKS_PER_HEARTBEAT;
  }

  /// Begins with a peer, which lives at this moment.
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

  /// Whether it is time to look at all peers; then the next look is due later.
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

  /// Looks at one peer, given what came from it and left for it so far.
  public Finding look(int peer, long bytesReceived, long bytesSent, long nowNanos, long attention) {
    if (bytesReceived != received[peer]) {
      received[peer] = bytesReceived;
      heardAttention[peer] = attention;
      heardNanos[peer] = nowNanos;
    }
    if (bytesSent != sent[peer]) {
      sent[peer] = bytesSent;
      sentNanos[peer] = nowNanos;
      // It may have left right after the look before this one.
      quietSinceNanos[peer] = lookedBeforeNanos;
    }
    if (heartbeat.limitNanos() > 0 && silence(peer, attention) > heartbeat.limitNanos()) {
      return Finding.SILENT;
    }
    // The next look may come too late for a heartbeat.
    long quiet = nowNanos - quietSinceNanos[peer];
    boolean due = quiet < 0 || quiet + lookNanos >= heartbeat.heartbeatNanos();
    return heartbeat.heartbeatNanos() > 0 && due ? Finding.HEARTBEAT_DUE : Finding.FINE;
  }

  /// How long nothing has come from the peer, in time in which this rank looked.
  public long silence(int peer, long attention) {
    return attention - heardAttention[peer];
  }

  /// When the peer was last heard of, by the progress thread's clock.
  public long heardNanos(int peer) {
    return heardNanos[peer];
  }

  /// When something last left for the peer, by the progress thread's clock.
  public long sentNanos(int peer) {
    return sentNanos[peer];
  }
}
