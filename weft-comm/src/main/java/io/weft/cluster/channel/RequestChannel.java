// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.agent.AgentRunner;
import io.weft.transport.CheckReturnValue;
import java.util.function.Consumer;

/// The requests of this rank to other ranks, and of other ranks to this one. Services such as a
/// parameter server are built on it. Each service has a distinct kind, equal on all ranks, so
/// several services can run in one process. Any thread.
public interface RequestChannel {

  /// Maximum length of the head of a request and of the body of a reply, in bytes.
  int MAX_HEAD_BYTES = 1024;

  /// Maximum number of open requests of this rank to one peer.
  int MAX_OPEN = 1 << 10;

  /// Largest kind of a request.
  int MAX_KIND = 255;

  /// Smallest kind for programs. Lower kinds are reserved for Weft's modules.
  int FIRST_FREE_KIND = 64;

  /// Sends a request to a peer. The peer's handler of a kind receives the requests of one thread of
  /// a rank in the order of submission. `receiver` is notified of the outcome once, on the progress
  /// thread: at the latest when the limit has passed and the transport no longer accesses memory of
  /// the request. It must neither block nor throw. Returns false, without any effect, if too many
  /// requests to this peer are open; the caller may retry when one has ended. Throws
  /// `IllegalArgumentException` for this rank itself, for an unknown rank, and if memory of the
  /// request has been closed. Throws `CommException.Aborted` in a callback that runs after this
  /// rank has left the job, because callbacks that submit again each time would never end.
  @CheckReturnValue
  boolean tryRequest(int peer, Request request, Consumer<? super RequestOutcome> receiver);

  /// Throws `CommException.Aborted` in a callback that runs after this rank has left the job, as
  /// `tryRequest` does.
  void checkOpen();

  /// The runner of this channel. A thread that waits for an outcome may drive it, as collectives
  /// do.
  AgentRunner runner();

  /// Returns the events of this rank's observers, to which a service over the channel reports its
  /// operations.
  ChannelEvents events();

  /// Sets the handler of the requests of this kind, from a later duty cycle on. It replaces an
  /// earlier handler of the same kind. Until a kind has a handler, its requests wait, and requests
  /// of other kinds overtake them. When it is set, the handler is notified of the ranks that are
  /// already gone. Throws `IllegalArgumentException` unless the kind is 0 to `MAX_KIND`.
  void serve(int kind, RequestHandler handler);

  /// Throws `IllegalArgumentException` unless the kind is 0 to `MAX_KIND`.
  static void checkKind(int kind) {
    if (kind < 0 || kind > MAX_KIND) {
      throw new IllegalArgumentException(
          "requests of kind " + kind + "; expected kinds from 0 to " + MAX_KIND);
    }
  }

  /// Returns the total bytes of payloads that were copied into registered memory, because peers
  /// could not access them where they lie. Any thread.
  default long copiedBytes() {
    return 0;
  }
}
