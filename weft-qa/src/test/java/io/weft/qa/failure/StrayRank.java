// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/// One of two ranks. Rank 0 misuses the API: it closes arenas too early, passes confined ones and
/// waits in callbacks. It prints the outcomes and the results of later operations.
final class StrayRank {

  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int ROUNDS = 20;

  private final Weft weft;
  private final Path directory;

  private StrayRank(Weft weft, Path directory) {
    this.weft = weft;
    this.directory = directory;
  }

  /// @param arguments a directory that both ranks know
  public static void main(String[] arguments) throws Exception {
    try (Weft weft = Weft.init()) {
      StrayRank rank = new StrayRank(weft, Path.of(arguments[0]));
      for (int elements : new int[] {3, 1_000}) {
        rank.say("closed", rank.closed(elements));
        rank.sum(named("after-closed-" + elements));
      }
      rank.say("confined", rank.confined());
      rank.sum(named("after-confined"));
      rank.sum(named("forever").within(ChronoUnit.FOREVER.getDuration()));
      rank.say("callback", rank.callbacks());
      rank.sum(named("last"));
      rank.say("end", "well");
    }
  }

  private void say(String what, String text) {
    System.out.println(what + ": " + text);
  }

  private static TensorView tensor(Arena arena, int elements) {
    return new TensorView(DType.INT32, Shape.of(elements), arena.allocate(4L * elements, 64));
  }

  private Handle<TensorView> submit(TensorView tensor, CollectiveOptions options) {
    return weft.communicator().allreduce(tensor, tensor, ReduceOp.SUM, options);
  }

  /// Rank 1 submits its part after the arena is closed.
  private String closed(int elements) throws Exception {
    Arena arena = Arena.ofShared();
    String closed = "closed-" + elements;
    boolean strays = weft.rank() == 0;
    if (!strays) {
      await(closed);
    }
    Handle<TensorView> handle = submit(tensor(arena, elements), named(closed).within(LIMIT));
    if (strays) {
      arena.close();
      Files.createFile(directory.resolve(closed));
    }
    try {
      var unused = handle.await(ChronoUnit.FOREVER.getDuration());
      return "done";
    } catch (CommException.Broken broken) {
      return String.valueOf(broken.getMessage());
    } finally {
      if (!strays) {
        arena.close();
      }
    }
  }

  private String confined() {
    try (Arena arena = Arena.ofConfined()) {
      var unused = submit(tensor(arena, 3), named("confined"));
      return "not refused";
    } catch (IllegalArgumentException refused) {
      return String.valueOf(refused.getMessage());
    }
  }

  private void sum(CollectiveOptions options) throws InterruptedException {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.INT32, Shape.of(1))) {
      tensor.view().data().set(ValueLayout.JAVA_INT, 0, 1 + weft.rank());
      var unused = submit(tensor.view(), options).await(ChronoUnit.FOREVER.getDuration());
      say(options.name(), "sum " + tensor.view().data().get(ValueLayout.JAVA_INT, 0));
    }
  }

  /// Rank 1 submits its part after rank 0 has registered its callback, and "late" after all of rank
  /// 0's callbacks have run.
  private String callbacks() throws Exception {
    try (OwnedTensor late = OwnedTensor.allocate(DType.INT32, Shape.of(1));
        OwnedTensor met = OwnedTensor.allocate(DType.INT32, Shape.of(1))) {
      AtomicReference<String> onCaller = new AtomicReference<>("never on the caller's thread");
      boolean strays = weft.rank() == 0;
      Handle<TensorView> pending = strays ? submit(late.view(), named("late")) : null;
      Thread caller = Thread.currentThread();
      CountDownLatch called = new CountDownLatch(ROUNDS);
      for (int round = 0; round < ROUNDS; round++) {
        String asked = "asked-" + round;
        if (!strays) {
          await(asked);
        }
        Handle<TensorView> handle = submit(met.view(), named("met").within(LIMIT));
        if (pending != null) {
          handle.whenDone(
              (_, _) -> {
                String came = waiting(pending);
                if (Thread.currentThread() == caller || !came.startsWith("refused")) {
                  onCaller.set(came);
                }
                called.countDown();
              });
          Files.createFile(directory.resolve(asked));
        }
        var unused = handle.await();
      }
      if (pending != null) {
        if (!called.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
          return "called " + (ROUNDS - called.getCount()) + " times of " + ROUNDS;
        }
        Files.createFile(directory.resolve("all-called"));
        var unused = pending.await(LIMIT);
      } else {
        await("all-called");
        var unused = submit(late.view(), named("late")).await(LIMIT);
      }
      return onCaller.get();
    }
  }

  private static String waiting(Handle<?> pending) {
    try {
      var unused = pending.await(LIMIT);
      return "not refused";
    } catch (IllegalStateException refused) {
      return "refused, " + refused.getMessage();
    } catch (InterruptedException | RuntimeException other) {
      return other.toString();
    }
  }

  private void await(String file) throws IOException {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!Files.exists(directory.resolve(file))) {
      if (System.nanoTime() - end > 0) {
        throw new IOException("nobody made " + file);
      }
      LockSupport.parkNanos(2_000_000);
    }
  }
}
