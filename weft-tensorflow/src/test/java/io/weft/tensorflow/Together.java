// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/// A runner of one body per rank, each on its own thread, which waits for all of them.
final class Together {

  private Together() {}

  /// Returns the result of each rank. Throws the exception of the first failed rank.
  static <T> List<T> run(int ranks, IntFunction<Callable<T>> body) throws Exception {
    List<FutureTask<T>> futures = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      FutureTask<T> future = new FutureTask<>(body.apply(rank));
      futures.add(future);
      // The thread is a daemon, because a rank that hangs in native code must not keep the JVM
      // alive.
      Thread.ofPlatform().daemon().name("rank " + rank).start(future);
    }
    List<T> results = new ArrayList<>();
    for (Future<T> future : futures) {
      results.add(future.get(30, TimeUnit.SECONDS));
    }
    return results;
  }

  /// Returns the exception of each rank.
  static List<Throwable> failures(int ranks, IntFunction<Callable<?>> body) throws Exception {
    return run(
        ranks,
        rank ->
            () -> {
              try {
                body.apply(rank).call();
                throw new AssertionError("rank " + rank + " did not fail");
              } catch (Exception e) {
                return e;
              }
            });
  }
}
