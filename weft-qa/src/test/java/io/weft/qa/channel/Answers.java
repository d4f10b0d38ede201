// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.channel;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestChannel;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// The awaited outcome of one request.
final class Answers {

  private record Answer(int number, long written, @Nullable CommException failure) {}

  private final CompletableFuture<Answer> answer = new CompletableFuture<>();
  private boolean taken;

  private Answers() {}

  static Answers ask(RequestChannel channel, int peer, Request request) {
    var asked = new Answers();
    asked.taken = channel.tryRequest(peer, request, asked::done);
    return asked;
  }

  private void done(RequestOutcome outcome) {
    answer.complete(
        switch (outcome) {
          case RequestOutcome.Replied it ->
              new Answer(
                  it.body().byteSize() < 4 ? 0 : it.body().get(JAVA_INT_UNALIGNED, 0),
                  it.written(),
                  null);
          case RequestOutcome.Failed(CommException cause) -> new Answer(0, 0, cause);
        });
  }

  boolean isTaken() {
    return taken;
  }

  boolean isEnded() {
    return answer.isDone();
  }

  private Answer get() throws InterruptedException, ExecutionException, TimeoutException {
    return answer.get(50, TimeUnit.SECONDS);
  }

  /// Returns the number that the reply begins with.
  int number() throws InterruptedException, ExecutionException, TimeoutException {
    CommException failure = get().failure();
    if (failure != null) {
      throw failure;
    }
    return get().number();
  }

  long written() throws InterruptedException, ExecutionException, TimeoutException {
    return get().written();
  }

  CommException failure() throws InterruptedException, ExecutionException, TimeoutException {
    return Objects.requireNonNull(get().failure(), "it has not failed");
  }
}
