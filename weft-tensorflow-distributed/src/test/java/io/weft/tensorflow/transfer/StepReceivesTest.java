// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class StepReceivesTest {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final List<String> EDGES = List.of("a", "b", "c");

  @Test
  void firstReceiveRequestsTheGroupAndUnusedTensorsAreReleased() throws Exception {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      Weft source = job.ranks().get(0);
      Weft here = job.ranks().get(1);
      try (GraphPart part = new GraphPart("graph", here.rendezvous(), 1, task -> 0)) {
        ReceivePlan plan = new ReceivePlan(part, List.of(new ReceiveBatch(0, EDGES)));
        long deadline = System.nanoTime() + LONG.toNanos();
        CompletableFuture<Arrival> a = new CompletableFuture<>();
        CompletableFuture<Arrival> b = new CompletableFuture<>();
        try (StepReceives receives = new StepReceives(here.rendezvous(), plan, 5, deadline)) {
          receives.receive(part.incoming(0, "a"), a::complete);
          await(() -> source.rendezvous().counts().parked() == EDGES.size());
          for (String edge : EDGES) {
            publish(source, RendezvousKey.of(part.incoming(0, edge), 5));
          }
          await(() -> here.rendezvous().counts().leases() == EDGES.size());
          receives.receive(part.incoming(0, "b"), b::complete);
          close(a);
          close(b);
        }
        for (Weft weft : job.ranks()) {
          weft.rendezvous().end(5);
          await(() -> weft.rendezvous().counts().isEmpty());
        }
      }
    }
  }

  private static void publish(Weft weft, RendezvousKey key) {
    TensorLease tensor = weft.allocate(DType.INT64, Shape.of(3));
    weft.rendezvous().publish(key, tensor.view(), tensor::close);
  }

  private static void close(CompletableFuture<Arrival> arrival) throws Exception {
    Arrival came = arrival.get(LONG.toSeconds(), TimeUnit.SECONDS);
    assertThat(came).isInstanceOf(Arrival.Live.class);
    ((Arrival.Live) came).tensor().close();
  }

  private static void await(BooleanSupplier condition) {
    long end = System.nanoTime() + LONG.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("in time").isNegative();
      Thread.onSpinWait();
    }
  }
}
