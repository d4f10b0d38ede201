// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.secure.Claim;
import io.weft.transport.secure.HandshakeStep;
import io.weft.transport.secure.ResponderHandshake;
import java.nio.ByteBuffer;

/// An accepted call whose initiator has not proved anything yet.
final class InprocAnswer {

  private final InprocTransport transport;
  private final InprocConnection line;
  private final ResponderHandshake handshake;
  private final long deadlineNanos;
  private boolean ended;

  InprocAnswer(InprocTransport transport, InprocConnection line, long deadlineNanos) {
    this.transport = transport;
    this.line = line;
    handshake = new ResponderHandshake(transport.proof());
    this.deadlineNanos = deadlineNanos;
  }

  boolean isEnded() {
    return ended;
  }

  boolean hasWork() {
    return line.isAudible(false);
  }

  /// Advances the handshake by one step; returns the amount of work.
  int tick(long nowNanos) {
    if (line.ended() != null) {
      ended = true;
      return 0;
    }
    ByteBuffer heard = line.hear(false);
    if (heard == null) {
      if (nowNanos - deadlineNanos > 0) {
        drop("it was silent for too long");
      }
      return 0;
    }
    HandshakeStep step = handshake.receive(heard);
    if (step instanceof HandshakeStep.Established) {
      line.accept(transport.table());
    }
    line.say(false, step.reply());
    switch (step) {
      case HandshakeStep.Continued more -> {}
      case HandshakeStep.Refused refused -> drop(refused.why());
      case HandshakeStep.Established established -> establish(established.peer());
    }
    line.initiator.wakeIfWaiting();
    return 1;
  }

  private void establish(Claim peer) {
    ended = true;
    InprocEndpoint endpoint =
        new InprocEndpoint(transport, peer.node(), line.initiator.address(), false);
    transport.established(endpoint, line, line.initiator);
  }

  private void drop(String why) {
    transport.log().warning("dropped a call: " + why);
    close("it was refused");
  }

  /// Ends the call if it has not ended.
  void close(String why) {
    if (!ended) {
      ended = true;
      line.close(false, why);
      line.initiator.wakeIfWaiting();
    }
  }
}
