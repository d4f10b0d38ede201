// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.agent.AgentRunner;
import io.weft.transport.CheckReturnValue;
import java.util.function.Consumer;

/// Requests to other ranks, and those of others to this one: what services such as a parameter
/// server are built on. Each service has a kind of its own, the same on all ranks, and so several
/// are served in one process. Any thread.
public interface RequestChannel {

  /// Longest head of a request, and longest body of a reply.
  int MAX_HEAD_BYTES = 1024;

  /// Most requests of this rank to one peer that are not over.
  int MAX_OPEN = 1 << 10;

  /// Largest kind of a request.
  int MAX_KIND = 255;

  /// Kinds below this one are those of Weft itself, of all its modules; programs take the others.
  int FIRST_FREE_KIND = 64;

  /// Asks a peer; its handler of that kind sees the requests of one rank in the order in which a
  /// thread of that rank submitted them. `receiver` hears once, on the progress thread, what became
  /// of it, at the latest when the limit has passed; it must neither block nor throw. Returns false
  /// where too many requests to this peer are not over: then nothing has happened; try again after
  /// one of them. Throws `IllegalArgumentException` for this rank itself, for one that there is
  /// not, and where memory of the request was closed since it was made; `CommException.Aborted` in
  /// a callback that runs after this rank has left the job: a callback that asked again each time
  /// would never end.
  @CheckReturnValue
  boolean tryRequest(int peer, Request request, Consumer<? super RequestOutcome> receiver);

  /// Throws `CommException.Aborted` where `tryRequest` does, whatever it is asked: in a callback
  /// that runs after this rank has left the job.
  void checkOpen();

  /// What turns this channel: who waits for an outcome may turn it meanwhile, as collectives do.
  AgentRunner runner();

  /// Who serves the requests of this kind, from a later turn of the progress thread on, in place of
  /// an earlier handler of the same kind; until the first one has come they wait, and those of
  /// other kinds pass them. It hears at once which ranks are gone. Throws
  /// `IllegalArgumentException` for a kind that is not 0 to `MAX_KIND`.
  void serve(int kind, RequestHandler handler);

  /// Throws `IllegalArgumentException` for a kind that there is not.
  static void checkKind(int kind) {
    if (kind < 0 || kind > MAX_KIND) {
      throw new IllegalArgumentException(
          "requests of kind " + kind + "; there are kinds from 0 to " + MAX_KIND);
    }
  }
}
