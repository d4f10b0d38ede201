// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.verbs.device.VerbsException;
import io.weft.verbs.ring.VerbsFault;
import org.jspecify.annotations.Nullable;

/// What two ends say over TCP until both of their queue pairs are connected
/// (docs/protocol/verbs.md, Meeting), and why they part. Polling thread only.
final class QueuePairExchange {

  private final VerbsEndpoint endpoint;
  private final Endpoint lower;
  private @Nullable QueuePairLink link;
  private long beganNanos;
  private long peerIncarnation;
  private boolean heard;
  private boolean agreed;

  QueuePairExchange(VerbsEndpoint endpoint, Endpoint lower) {
    this.endpoint = endpoint;
    this.lower = lower;
  }

  /// The TCP connection is proved, and our queue pair is there: tells the peer where.
  void begin(QueuePairLink made, long incarnation, long nowNanos) {
    link = made;
    beganNanos = Math.max(nowNanos, 1);
    say(made.hello(incarnation));
  }

  /// Gives up if the peer does not answer in time.
  void tick(long nowNanos, long limitNanos) {
    if (!endpoint.isConnected() && beganNanos != 0 && nowNanos - beganNanos > limitNanos) {
      endpoint.lost(
          "the peer did not connect its queue pair within " + limitNanos / 1_000_000 + " ms", null);
    }
  }

  /// The peer says where its queue pair is: connects ours.
  void hello(VerbsGreeting.Hello hello) throws VerbsFault {
    QueuePairLink open = link;
    if (heard || open == null) {
      throw new VerbsFault("a greeting out of turn");
    }
    heard = true;
    peerIncarnation = hello.incarnation();
    try {
      open.connect(hello);
      say(new VerbsGreeting.Decision(""));
    } catch (VerbsException | IllegalStateException e) {
      refuse(String.valueOf(e.getMessage()), e);
    }
  }

  /// The peer says whether it could connect.
  void verdict(String problem) throws VerbsFault {
    if (!problem.isEmpty()) {
      endpoint.lost("its queue pair cannot be connected; the peer says: " + problem, null);
      return;
    }
    if (agreed || !heard) {
      throw new VerbsFault("a verdict out of turn");
    }
    agreed = true;
    endpoint.connect();
  }

  /// We cannot connect.
  void refuse(String why, @Nullable Throwable cause) {
    say(new VerbsGreeting.Decision(why));
    endpoint.lost("its queue pair cannot be connected: " + why, cause);
  }

  /// We part because of what the peer has sent.
  void gracefulClose(String reason) {
    say(new VerbsGreeting.GracefulClose(reason));
  }

  private void say(VerbsGreeting greeting) {
    if (!endpoint.isClosed() && lower.trySend(greeting.encode()) != PostResult.POSTED) {
      endpoint.lost("the connection took no greeting", null);
    }
    endpoint.flushLower();
  }

  /// Of the peer's transport, once it has said where its queue pair is.
  long peerIncarnation() {
    return peerIncarnation;
  }
}
