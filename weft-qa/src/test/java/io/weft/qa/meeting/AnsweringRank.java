// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.meeting;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;

import io.weft.Weft;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A rank that answers requests and sends requests to the ranks whose numbers it reads, one per
/// line. It leaves at the end of its input, and prints the outcome of each request.
final class AnsweringRank {

  private static final Duration LIMIT = Duration.ofSeconds(30);

  private AnsweringRank() {}

  /// @param arguments none
  public static void main(String[] arguments)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    try (Weft weft = Weft.init();
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      weft.channel().serve(FIRST_FREE_KIND, request -> request.reply(request.head()));
      System.out.println("joined as " + weft.rank() + " of " + weft.size());
      String peer = input.readLine();
      while (peer != null) {
        System.out.println(ask(weft, Integer.parseInt(peer)));
        peer = input.readLine();
      }
    } catch (CommException refused) {
      System.out.println("refused: " + refused.getMessage());
      System.exit(2);
    }
  }

  private static String ask(Weft weft, int peer)
      throws InterruptedException, ExecutionException, TimeoutException {
    var outcome = new CompletableFuture<RequestOutcome>();
    MemorySegment head = Arena.ofAuto().allocate(4);
    Request request = Request.of(FIRST_FREE_KIND, head, MemorySegment.NULL, LIMIT);
    if (!weft.channel().tryRequest(peer, request, outcome::complete)) {
      return "no room for " + peer;
    }
    return switch (outcome.get(2 * LIMIT.toSeconds(), TimeUnit.SECONDS)) {
      case RequestOutcome.Replied _ -> "reply of " + peer;
      case RequestOutcome.Failed(CommException.PeerLost lost) -> "lost " + lost.rank();
      case RequestOutcome.Failed(CommException cause) -> "failed: " + cause.getMessage();
    };
  }
}
