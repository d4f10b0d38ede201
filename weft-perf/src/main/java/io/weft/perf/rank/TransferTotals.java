// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.TransferCounts;
import io.weft.Weft;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestChannel;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.perf.report.RankPrinter;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/// The sum of all ranks' transfer counts, which one rank asks the others for.
public final class TransferTotals {

  private static final int KIND = RequestChannel.FIRST_FREE_KIND + 17;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private final Weft weft;

  private TransferTotals(Weft weft) {
    this.weft = weft;
  }

  /// Answers the requests of other ranks from now on. Every rank must call it.
  public static TransferTotals serve(Weft weft) {
    weft.channel().serve(KIND, request -> request.reply(encoded(weft.transfers())));
    return new TransferTotals(weft);
  }

  private static MemorySegment encoded(TransferCounts counts) {
    return MemorySegment.ofArray(
        new long[] {
          counts.registrations(), counts.oneSidedBytes(), counts.ringBytes(), counts.copiedBytes()
        });
  }

  /// Returns the sum over all ranks. Waits at most a minute.
  public TransferCounts now() throws InterruptedException {
    TransferCounts sum = weft.transfers();
    for (int rank : IntStream.range(0, weft.size()).filter(r -> r != weft.rank()).toArray()) {
      sum = sum.plus(of(rank));
    }
    return sum;
  }

  private TransferCounts of(int rank) throws InterruptedException {
    var answer = new CompletableFuture<TransferCounts>();
    boolean asked =
        weft.channel()
            .tryRequest(
                rank,
                Request.of(KIND, MemorySegment.NULL, MemorySegment.NULL, LIMIT),
                outcome -> decode(outcome, answer));
    if (!asked) {
      throw new IllegalStateException("rank " + rank + " has too many open requests");
    }
    try {
      return answer.get(2 * LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("rank " + rank + " did not tell its transfer counts", e);
    }
  }

  private static void decode(RequestOutcome outcome, CompletableFuture<TransferCounts> into) {
    switch (outcome) {
      case RequestOutcome.Replied(MemorySegment body, long _) ->
          into.complete(
              new TransferCounts(
                  body.get(JAVA_LONG_UNALIGNED, 0),
                  body.get(JAVA_LONG_UNALIGNED, 8),
                  body.get(JAVA_LONG_UNALIGNED, 16),
                  body.get(JAVA_LONG_UNALIGNED, 24)));
      case RequestOutcome.Failed(var cause) -> into.completeExceptionally(cause);
    }
  }

  /// Prints the counts of a case, if the transport counts its transfers. The share is 1 for a case
  /// without long payloads, since no ring has moved any.
  ///
  /// @param bytes payload of all steps
  public void print(RankPrinter printer, TransferCounts counts, long bytes, int steps) {
    long moved = counts.oneSidedBytes() + counts.ringBytes();
    if (moved > 0 || weft.transport().equals("verbs")) {
      printer.figure("oneSidedShare", moved == 0 ? 1 : counts.oneSidedShare());
      printer.figure("copiesPerByte", bytes == 0 ? 0 : (double) counts.copiedBytes() / bytes);
      printer.figure("registrationsPerStep", (double) counts.registrations() / steps);
    }
  }
}
