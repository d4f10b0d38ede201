// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestChannel;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// The program of a rank that calls the request channel and collectives with arguments that once
/// ended the progress thread or made every later call fail. Each call must be refused immediately.
public final class BadArgumentsProgram {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private BadArgumentsProgram() {}

  /// Makes the calls, sums over both ranks, and sends one more request to the other rank.
  public static void main(String[] arguments) throws Exception {
    try (Weft weft = Weft.init()) {
      RequestChannel channel = weft.channel();
      channel.serve(
          FIRST_FREE_KIND,
          request -> {
            refused(() -> request.fail(null));
            request.reply(request.head());
          });
      var unused = weft.communicator().barrier(named("served")).await(LIMIT);
      int other = 1 - weft.rank();
      try (Arena confined = Arena.ofConfined()) {
        MemorySegment own = confined.allocate(16);
        refused(() -> ask(channel, other, own));
      }
      Arena closed = Arena.ofShared();
      MemorySegment gone = closed.allocate(16);
      closed.close();
      refused(() -> ask(channel, other, gone));
      refused(() -> Request.of(FIRST_FREE_KIND, MemorySegment.NULL, MemorySegment.NULL, null));
      refused(() -> weft.communicator().tune(null));
      refused(() -> weft.observe(null));
      refused(() -> weft.store().put(null, new byte[1]));
      TensorView one =
          new TensorView(
              DType.FLOAT32, Shape.of(1), Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, 1f));
      refused(() -> weft.communicator().allreduce(one, one, null, named("nothing")));
      ask(channel, other, Arena.ofAuto().allocate(16));
      weft.communicator().allreduce(one, one, ReduceOp.SUM, named("sum")).await(LIMIT);
      if (one.data().get(ValueLayout.JAVA_FLOAT, 0) != 2f) {
        throw new IllegalStateException("the sum is wrong");
      }
      System.out.println("the job works on");
    }
  }

  private static void ask(RequestChannel channel, int rank, MemorySegment payload)
      throws InterruptedException, ExecutionException, TimeoutException {
    CompletableFuture<RequestOutcome> outcome = new CompletableFuture<>();
    Request request = Request.of(FIRST_FREE_KIND, MemorySegment.NULL, payload, LIMIT);
    if (!channel.tryRequest(rank, request, outcome::complete)) {
      throw new IllegalStateException("the request was not taken");
    }
    if (!(outcome.get(60, TimeUnit.SECONDS) instanceof RequestOutcome.Replied)) {
      throw new IllegalStateException("no reply but " + outcome.get());
    }
  }

  /// A call that must be refused because of its argument.
  private interface Call {
    void run() throws Exception;
  }

  private static void refused(Call call) {
    try {
      call.run();
    } catch (NullPointerException | IllegalArgumentException expected) {
      return;
    } catch (Exception e) {
      throw new IllegalStateException("not refused but " + e, e);
    }
    throw new IllegalStateException("an argument that is wrong was taken");
  }
}
