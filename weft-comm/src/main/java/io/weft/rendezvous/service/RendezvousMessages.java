// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.cluster.Mesh;
import io.weft.cluster.PeerExit;
import io.weft.comm.CommException;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.frame.TensorSpec;
import io.weft.transport.TransportException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/// The messages of failures. Off the hot path.
final class RendezvousMessages {

  private final Mesh mesh;

  RendezvousMessages(Mesh mesh) {
    this.mesh = mesh;
  }

  private String here() {
    return rank(mesh.rank());
  }

  private String rank(int rank) {
    return rank < mesh.topology().size() ? mesh.topology().describe(rank) : "rank " + rank;
  }

  private String receive(RendezvousKey key) {
    return "receive of " + key + " from " + rank(key.edge().source()) + " on " + here();
  }

  CommException ended(long step) {
    return new CommException.Aborted(
        "step " + step + " has ended on " + here() + "; each step needs a unique number", null);
  }

  CommException aborted(long step, String why) {
    return new CommException.Aborted(
        "step " + step + " was aborted on " + here() + ": " + why, mesh.rank(), null);
  }

  CommException publishedTwice(Publication it) {
    return new CommException.Aborted(
        "step "
            + it.stepNumber
            + " was aborted on "
            + here()
            + ": edge "
            + it.edge()
            + " was published twice in iteration "
            + it.frame
            + ":"
            + it.iteration
            + "; an edge carries one tensor in each iteration",
        mesh.rank(),
        null);
  }

  CommException askedTwice(Edge edge, long step) {
    return new CommException.Aborted(
        "edge " + edge + " was requested twice in step " + step + "; each tensor has one receiver",
        edge.destination(),
        null);
  }

  CommException tooMany(Edge edge, long step) {
    return new CommException.Aborted(
        "edge "
            + edge
            + " in step "
            + step
            + ": more than 65536 receives, offered tensors or edges between two ranks are open;"
            + " end steps sooner",
        null);
  }

  CommException late(RendezvousKey key, long limitNanos) {
    return new CommException.Aborted(
        receive(key)
            + " was not answered for "
            + Duration.ofNanos(limitNanos)
            + "; check that the rank runs this step and produces this edge",
        key.edge().source(),
        null);
  }

  CommException failedThere(RendezvousKey key, String why) {
    return new CommException.Aborted(
        receive(key) + " was refused by that rank: " + why, key.edge().source(), null);
  }

  CommException tooLong(RendezvousKey key, TensorSpec like, long memoryBytes) {
    return new CommException.Aborted(
        receive(key)
            + ": "
            + like
            + " needs "
            + like.bytes()
            + " bytes, rounded up to a power of two, of "
            + memoryBytes
            + " for received tensors; raise rendezvous-memory (WEFT_RENDEZVOUS_MEMORY)",
        null);
  }

  CommException notRead(RendezvousKey key, TensorSpec like, TransportException cause) {
    return new CommException.Aborted(
        receive(key) + ": " + like + " could not be read: " + cause.getMessage(),
        key.edge().source(),
        cause);
  }

  CommException broken(Edge edge, Throwable thrown) {
    return new CommException.Broken(
        here() + ": the transfer along edge " + edge + " has failed with " + thrown,
        mesh.rank(),
        thrown);
  }

  CommException notRegistered(Publication it, Throwable cause) {
    return new CommException.Aborted(
        "edge "
            + it.edge()
            + " in step "
            + it.stepNumber
            + " cannot be offered by "
            + here()
            + ": "
            + (cause instanceof TransportException ? cause.getMessage() : cause),
        mesh.rank(),
        cause);
  }

  /// The reason for a destination that arrives too late.
  byte[] notHere() {
    return ("the tensor is no longer held by " + here() + "; its step was aborted or has ended")
        .getBytes(StandardCharsets.UTF_8);
  }

  CommException lost(int rank, PeerExit.Lost loss) {
    return new CommException.PeerLost(
        rank(rank)
            + " is lost: "
            + loss.why()
            + "; every receive from it fails. Noticed by "
            + rank(loss.witness()),
        rank,
        loss.witness(),
        null);
  }

  CommException left(int rank) {
    return new CommException.PeerLost(
        rank(rank) + " has left the job; every receive from it fails", rank, null);
  }

  CommException closed() {
    return new CommException.Aborted(here() + " has left the job; receive before it leaves", null);
  }

  /// The error for a callback that receives or publishes again.
  CommException afterLeaving() {
    return new CommException.Aborted(
        here()
            + " has left the job, and this callback was notified of it; it must neither receive"
            + " nor publish again",
        null);
  }

  CommException crashed(Throwable cause) {
    return new CommException.Aborted(
        "the progress thread of " + here() + " has died of " + cause, cause);
  }
}
