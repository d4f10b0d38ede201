// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.transport.CheckReturnValue;
import java.util.function.Consumer;

/// Requests to other ranks, and those of others to this one. Any thread.
public interface RequestChannel {

  /// Longest head of a request, and longest body of a reply.
  int MAX_HEAD_BYTES = 1024;

  /// Most requests of this rank to one peer that are not over.
  int MAX_OPEN = 1 << 10;

  /// Asks a peer; its handler sees the requests of one rank in the order in which a thread of that
  /// rank submitted them. `receiver` hears once, on the progress thread, what became of it, at the
  /// latest when the limit has passed; it must neither block nor throw. Returns false where too
  /// many requests to this peer are not over: then nothing has happened; try again after one of
  /// them. Throws `IllegalArgumentException` for this rank itself, and for one that there is not.
  @CheckReturnValue
  boolean tryRequest(int peer, Request request, Consumer<? super RequestOutcome> receiver);

  /// Who serves what peers ask, from now on; until the first one has come their requests wait.
  void serve(RequestHandler handler);
}
