// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.cluster.Mesh;
import io.weft.cluster.PeerExit;
import io.weft.comm.CommException;
import java.util.List;

/// The messages of failed requests. Off the hot path.
final class ChannelMessages {

  private final Mesh mesh;

  ChannelMessages(Mesh mesh) {
    this.mesh = mesh;
  }

  private String here() {
    return describe(mesh.rank());
  }

  private String describe(int rank) {
    return mesh.topology().describe(rank);
  }

  CommException tooMany() {
    return new CommException.Aborted(
        "too many operations are in progress on " + here() + "; await some", mesh.rank(), null);
  }

  CommException notRegistered(OutboundRequest it, Throwable refused) {
    return new CommException.Aborted(
        "the memory of a request to "
            + describe(it.peer().rank())
            + " cannot be registered: "
            + refused.getMessage(),
        mesh.rank(),
        refused);
  }

  CommException unreadable(OutboundRequest it, Throwable thrown) {
    return new CommException.Broken(
        "a request of "
            + here()
            + " to "
            + describe(it.peer().rank())
            + " has lost its payload, because its arena was closed while the request was in"
            + " progress; keep the arena open until the outcome is delivered ("
            + thrown
            + ")",
        mesh.rank(),
        thrown);
  }

  CommException late(OutboundRequest it) {
    int peer = it.peer().rank();
    return new CommException.TimedOut(
        describe(peer)
            + " has not replied to a request of "
            + here()
            + " within "
            + it.limitNanos() / 1_000_000
            + " ms; check that rank, or raise the limit",
        List.of(peer));
  }

  CommException refused(int peer, String why) {
    return new CommException.Aborted(
        describe(peer) + " has refused a request of " + here() + ": " + why, peer, null);
  }

  String tooLong(long bytes, long mostBytes) {
    return "a payload of "
        + bytes
        + " bytes, rounded up to a power of two, is more than the "
        + mostBytes
        + " that "
        + here()
        + " has for payloads; raise rendezvous-memory there";
  }

  CommException gone(int rank, PeerExit how) {
    return switch (how) {
      case PeerExit.Left _ ->
          new CommException.PeerLost(
              describe(rank) + " has left the job; its requests fail", rank, null);
      case PeerExit.Lost lost ->
          new CommException.PeerLost(
              describe(rank)
                  + " is lost: "
                  + lost.why()
                  + "; requests to it fail. Noticed by "
                  + describe(lost.witness()),
              rank,
              lost.witness(),
              null);
    };
  }

  CommException closed() {
    return new CommException.Aborted(here() + " has left the job; send before it leaves", null);
  }

  /// The error for a callback that submits another request.
  CommException afterLeaving() {
    return new CommException.Aborted(
        here()
            + " has left the job, and this callback was notified of it; it must not send another"
            + " request",
        mesh.rank(),
        null);
  }

  CommException crashed(Throwable cause) {
    return new CommException.Aborted(
        "the progress thread of " + here() + " has died of " + cause, cause);
  }
}
