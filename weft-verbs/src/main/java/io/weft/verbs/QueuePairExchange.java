// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.verbs.device.VerbsException;
import io.weft.verbs.ring.VerbsFault;
import org.jspecify.annotations.Nullable;

/// The greetings of two ends over TCP until both queue pairs are connected (docs/protocol/verbs.md,
/// Meeting), and the reason if they part. Polling thread only.
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

  /// Sends the address of this side's queue pair, after the TCP connection is authenticated.
  void begin(QueuePairLink made, long incarnation, long nowNanos) {
    link = made;
    beganNanos = Math.max(nowNanos, 1);
    say(made.hello(incarnation));
  }

  /// Fails the endpoint if the peer does not answer in time.
  void tick(long nowNanos, long limitNanos) {
    if (!endpoint.isConnected() && beganNanos != 0 && nowNanos - beganNanos > limitNanos) {
      endpoint.lost(
          "the peer did not connect its queue pair within " + limitNanos / 1_000_000 + " ms", null);
    }
  }

  /// Connects this side's queue pair to the one that the peer's greeting describes.
  void hello(VerbsGreeting.Hello hello) throws VerbsFault {
    QueuePairLink open = link;
    if (heard || open == null) {
      throw new VerbsFault("an unexpected greeting");
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

  /// Handles the peer's result of connecting.
  void verdict(String problem) throws VerbsFault {
    if (!problem.isEmpty()) {
      endpoint.lost("its queue pair cannot be connected; the peer says: " + problem, null);
      return;
    }
    if (agreed || !heard) {
      throw new VerbsFault("an unexpected verdict");
    }
    agreed = true;
    endpoint.connect();
  }

  /// Tells the peer that this side cannot connect, and fails the endpoint.
  void refuse(String why, @Nullable Throwable cause) {
    say(new VerbsGreeting.Decision(why));
    endpoint.lost("its queue pair cannot be connected: " + why, cause);
  }

  /// Tells the peer that this side ends the connection because of the data it received.
  void gracefulClose(String reason) {
    say(new VerbsGreeting.GracefulClose(reason));
  }

  private void say(VerbsGreeting greeting) {
    if (!endpoint.isClosed() && lower.trySend(greeting.encode()) != PostResult.POSTED) {
      endpoint.lost("the connection had no room for a greeting", null);
    }
    endpoint.flushLower();
  }

  /// Returns the incarnation of the peer's transport, known after its greeting.
  long peerIncarnation() {
    return peerIncarnation;
  }
}
