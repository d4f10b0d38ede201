// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.transport.secure.HandshakeStep;
import io.weft.transport.secure.InitiatorHandshake;
import io.weft.transport.secure.ResponderHandshake;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The part of a connection before both sides are authenticated. It runs the production handshakes,
/// whose bytes travel as packets.
abstract class SimHandshake {

  final SimEndpoint end;

  SimHandshake(SimEndpoint end) {
    this.end = end;
  }

  abstract HandshakeStep receive(ByteBuffer bytes);

  /// Handles the end of the connection before the end of the handshake.
  abstract void ended(String how);

  /// Checks timeouts; returns the time of the next check.
  abstract long tick(long nowNanos);

  /// Handles a refusal, after which the peer gets no further bytes.
  abstract void refused(String why);

  final void send(ByteBuffer bytes) {
    byte[] data = new byte[bytes.remaining()];
    bytes.get(data);
    end.transport().network().send(new SimPacket(SimPacket.PacketKind.HANDSHAKE, end, data));
  }

  final void received(byte[] bytes) {
    HandshakeStep step = receive(ByteBuffer.wrap(bytes));
    if (step.reply().hasRemaining()) {
      send(step.reply());
    }
    switch (step) {
      case HandshakeStep.Continued more -> {}
      case HandshakeStep.Refused refusal -> refused(refusal.why());
      case HandshakeStep.Established established -> end.open(established.peer());
    }
  }

  /// The connecting side, which retries until the deadline while no process answers.
  static final class Connect extends SimHandshake {

    private static final long FIRST_PAUSE_NANOS = 5_000_000;
    private static final long LONGEST_PAUSE_NANOS = 200_000_000;

    private final String location;
    private @Nullable InitiatorHandshake handshake;
    private boolean started;
    private long startNanos;
    private long retryAtNanos;
    private long pauseNanos = FIRST_PAUSE_NANOS;
    private int attempts;
    private String lastFailure = "no answer";

    Connect(SimEndpoint end, String location) {
      super(end);
      this.location = location;
    }

    String location() {
      return location;
    }

    @Override
    long tick(long nowNanos) {
      if (!started) {
        started = true;
        startNanos = nowNanos;
        retryAtNanos = nowNanos;
      }
      long deadline = startNanos + end.transport().connectNanos();
      if (nowNanos > deadline) {
        end.fail(
            "not connected after "
                + (nowNanos - startNanos) / 1_000_000
                + " ms and "
                + attempts
                + " attempts: "
                + lastFailure
                + "; is the process running, and is nothing in the way?");
        return Long.MAX_VALUE;
      }
      if (handshake != null) {
        return deadline + 1;
      }
      if (nowNanos >= retryAtNanos) {
        attempts++;
        InitiatorHandshake begun = new InitiatorHandshake(end.transport().proof(), end.node());
        handshake = begun;
        send(begun.hello());
        return deadline + 1;
      }
      return Math.min(retryAtNanos, deadline + 1);
    }

    @Override
    HandshakeStep receive(ByteBuffer bytes) {
      InitiatorHandshake begun = handshake;
      if (begun == null) {
        throw new IllegalStateException("an answer without a request");
      }
      return begun.receive(bytes);
    }

    @Override
    void ended(String how) {
      InitiatorHandshake begun = handshake;
      lastFailure = begun == null ? how : begun.ended(how);
      handshake = null;
      retryAtNanos = end.transport().now() + pauseNanos;
      pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
      end.hangUp();
      end.transport().tickAt(retryAtNanos);
    }

    @Override
    void refused(String why) {
      end.fail(why);
    }
  }

  /// The side that accepts.
  static final class Caller extends SimHandshake {

    private final ResponderHandshake handshake;
    private boolean started;
    private long deadlineNanos;

    Caller(SimEndpoint end) {
      super(end);
      this.handshake = new ResponderHandshake(end.transport().proof());
    }

    @Override
    HandshakeStep receive(ByteBuffer bytes) {
      return handshake.receive(bytes);
    }

    @Override
    void ended(String how) {
      end.drop();
    }

    @Override
    long tick(long nowNanos) {
      if (!started) {
        started = true;
        deadlineNanos = nowNanos + end.transport().connectNanos();
      }
      if (nowNanos > deadlineNanos) {
        end.drop();
        return Long.MAX_VALUE;
      }
      return deadlineNanos + 1;
    }

    @Override
    void refused(String why) {
      end.drop();
    }
  }
}
