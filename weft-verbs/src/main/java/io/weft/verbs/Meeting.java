// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.verbs.device.VerbsException;

/// How two ends of a proved TCP connection connect their queue pairs: each says where its own is,
/// connects it to the other's, and says whether it could. Either may give up.
final class Meeting {

  private final Link link;
  private final long beganNanos;
  private long peerIncarnation;
  private boolean heard;
  private boolean agreed;
  private String problem = "";

  Meeting(Link link, long nowNanos) {
    this.link = link;
    beganNanos = nowNanos;
  }

  /// Takes where the peer's is; the own verdict. Throws `VerbsFault` for what is out of turn or
  /// does not fit.
  Greeting.Verdict hear(Greeting.Hello hello) throws VerbsFault {
    if (heard) {
      throw new VerbsFault("a greeting out of turn");
    }
    heard = true;
    peerIncarnation = hello.incarnation();
    try {
      link.connect(hello);
    } catch (VerbsException | IllegalStateException e) {
      problem = String.valueOf(e.getMessage());
    }
    return new Greeting.Verdict(problem);
  }

  /// Takes the peer's verdict.
  void hear(Greeting.Verdict verdict) throws VerbsFault {
    if (!verdict.problem().isEmpty()) {
      problem = "the peer says: " + verdict.problem();
      return;
    }
    if (agreed || !heard) {
      throw new VerbsFault("a verdict out of turn");
    }
    agreed = true;
  }

  /// Why there is no connection; empty if nothing is in its way.
  String problem() {
    return problem;
  }

  /// Both may send.
  boolean isAgreed() {
    return agreed;
  }

  long peerIncarnation() {
    return peerIncarnation;
  }

  boolean isOverdue(long nowNanos, long limitNanos) {
    return nowNanos - beganNanos > limitNanos;
  }
}
