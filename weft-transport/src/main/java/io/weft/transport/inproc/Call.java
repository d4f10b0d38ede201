// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.secure.HandshakeStep;
import io.weft.transport.secure.InitiatorHandshake;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// An outgoing connection attempt. It looks up the peer by name, repeatedly until the deadline
/// while the name is unknown, and then runs the handshake.
final class Call {

  private final InprocTransport transport;
  private final InprocEndpoint endpoint;
  private final String name;
  private @Nullable Ringing ringing;
  private boolean started;
  private boolean ended;
  private long startNanos;

  /// The state of an attempt whose peer was found.
  private record Ringing(
      InprocConnection line, InprocTransport peer, InitiatorHandshake handshake) {}

  Call(InprocTransport transport, InprocEndpoint endpoint, String name) {
    this.transport = transport;
    this.endpoint = endpoint;
    this.name = name;
  }

  InprocEndpoint endpoint() {
    return endpoint;
  }

  boolean isEnded() {
    return ended;
  }

  boolean hasWork() {
    Ringing found = ringing;
    return found != null && found.line.isAudible(true);
  }

  /// Advances the attempt by one step; returns the amount of work.
  int tick(long nowNanos) {
    if (ended) {
      return 0;
    }
    if (!started) {
      started = true;
      startNanos = nowNanos;
    }
    if (!endpoint.isOpen()) {
      abandon("it closed its endpoint");
      return 0;
    }
    Ringing found = ringing;
    int work = found == null ? ring() : handshake(found);
    long waited = nowNanos - startNanos;
    if (!ended && waited > transport.connectNanos()) {
      abandon("it waited for too long");
      giveUp(
          "not connected after "
              + waited / 1_000_000
              + " ms: "
              + (ringing == null ? "no transport has this name" : "the peer does not poll")
              + "; is its transport open and polled?");
    }
    return work;
  }

  private int ring() {
    InprocTransport peer = InprocNames.ofProcess().find(name);
    if (peer == null) {
      return 0;
    }
    InitiatorHandshake handshake = new InitiatorHandshake(transport.proof(), endpoint.node());
    InprocConnection line = new InprocConnection(transport);
    line.say(true, handshake.hello());
    if (!peer.ring(line)) {
      return 0;
    }
    ringing = new Ringing(line, peer, handshake);
    return 1;
  }

  private int handshake(Ringing found) {
    // The end is read first, because the peer sends its last frame before it.
    String end = found.line.ended();
    ByteBuffer heard = found.line.hear(true);
    if (heard == null) {
      if (end != null) {
        giveUp(found.handshake.ended(end));
      }
      return 0;
    }
    HandshakeStep step = found.handshake.receive(heard);
    found.line.say(true, step.reply());
    found.peer.wakeIfWaiting();
    switch (step) {
      case HandshakeStep.Continued more -> {}
      case HandshakeStep.Refused refused -> {
        abandon("it refused us");
        giveUp(refused.why());
      }
      case HandshakeStep.Established established -> {
        ended = true;
        transport.established(endpoint, found.line, found.peer);
      }
    }
    return 1;
  }

  /// Ends the attempt if it has not ended.
  void abandon(String why) {
    Ringing found = ringing;
    if (!ended && found != null) {
      found.line.close(true, why);
    }
    ended = true;
  }

  private void giveUp(String why) {
    ended = true;
    endpoint.fail(endpoint.exception(why, null));
  }
}
