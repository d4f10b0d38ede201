// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.rendezvous;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static io.weft.qa.rendezvous.Receipts.model;
import static io.weft.qa.rendezvous.Receipts.publish;
import static io.weft.qa.rendezvous.Receipts.receive;
import static io.weft.qa.rendezvous.Receipts.words;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.collective.CollectiveConfig;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousConfig;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.testkit.forward.OwnMemoryProvider;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.inproc.InprocProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks transfers over a transport that accesses its own memory only: foreign memory is copied
/// once, at the source, into memory that each edge keeps.
@Timeout(120)
class OwnMemoryTest {

  private static final int WORDS = 30_000;
  private static final int EDGES = 5;
  private static final int STEPS = 6;

  private final OwnMemoryProvider transport = new OwnMemoryProvider(new InprocProvider());
  private final AtomicInteger out = new AtomicInteger();

  private LocalJob job(String protocol, String memory) {
    WeftConfig config =
        WeftConfig.builder()
            .transport("inproc")
            .set(RendezvousConfig.PROTOCOL, protocol)
            .set(RendezvousConfig.MEMORY, memory)
            .build();
    return LocalJob.start(2, config, transport);
  }

  private static RendezvousKey key(int edge, long step) {
    return RendezvousKey.of(new Edge(0, 7, 1, "e" + edge), step);
  }

  private void step(LocalJob job, long step) {
    Weft source = job.ranks().get(0);
    Weft destination = job.ranks().get(1);
    for (int edge = 0; edge < EDGES; edge++) {
      CompletableFuture<Arrival> arrival = receive(destination, key(edge, step));
      publish(source, key(edge, step), WORDS, 31 * step + edge, out);
      assertThat(words(arrival)).isEqualTo(model(WORDS, 31 * step + edge));
    }
    end(job, step);
  }

  private void end(LocalJob job, long step) {
    job.ranks().forEach(weft -> weft.rendezvous().end(step));
    job.ranks().forEach(Receipts::awaitEmpty);
    assertThat(out).as("tensors that are not released").hasValue(0);
  }

  private static long copied(LocalJob job) {
    return job.ranks().getFirst().rendezvous().counts().totals().copiedBytes();
  }

  @ParameterizedTest
  @ValueSource(strings = {"read", "write"})
  void foreignTensorsAreCopiedOnceAndNeverRegistered(String protocol) {
    try (LocalJob job = job(protocol, "64M")) {
      step(job, 0);
      long allocations = transport.allocations();
      for (long step = 1; step < STEPS; step++) {
        step(job, step);
      }
      assertThat(copied(job)).isEqualTo((long) STEPS * EDGES * WORDS * 8);
      assertThat(transport.foreignRegistrations()).isZero();
      assertThat(transport.allocations()).as("after the first step").isEqualTo(allocations);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"read", "write"})
  void tensorsInAllocatedMemoryAreNotCopied(String protocol) throws Exception {
    try (LocalJob job = job(protocol, "64M")) {
      Weft source = job.ranks().getFirst();
      for (long step = 0; step < STEPS; step++) {
        CompletableFuture<Arrival> arrival = receive(job.ranks().get(1), key(0, step));
        var released = new CompletableFuture<Void>();
        try (TensorLease tensor = source.allocate(DType.INT64, Shape.of(WORDS))) {
          for (int i = 0; i < WORDS; i++) {
            tensor.view().data().setAtIndex(ValueLayout.JAVA_LONG, i, step + i);
          }
          source.rendezvous().publish(key(0, step), tensor.view(), () -> released.complete(null));
          assertThat(words(arrival)).isEqualTo(model(WORDS, step));
          assertThat(released).succeedsWithin(Duration.ofMinutes(1));
        }
        end(job, step);
      }
      assertThat(copied(job)).isZero();
      assertThat(transport.foreignRegistrations()).isZero();
    }
  }

  /// The memory has room for two copies; the tensors of other edges are registered where they lie.
  /// With the write protocol the memory for received tensors keeps the others waiting.
  @ParameterizedTest
  @CsvSource({"read, 512K", "write, 512K"})
  void tensorsWithoutRoomForACopyArriveToo(String protocol, String memory) {
    try (LocalJob job = job(protocol, memory)) {
      Weft source = job.ranks().getFirst();
      for (int edge = 0; edge < EDGES; edge++) {
        publish(source, key(edge, 0), WORDS, edge, out);
      }
      List<CompletableFuture<Arrival>> arrivals =
          IntStream.range(0, EDGES)
              .mapToObj(edge -> receive(job.ranks().get(1), key(edge, 0)))
              .toList();
      for (int edge = 0; edge < EDGES; edge++) {
        assertThat(words(arrivals.get(edge))).isEqualTo(model(WORDS, edge));
      }
      end(job, 0);
      assertThat(transport.foreignRegistrations() > 0).isEqualTo(protocol.equals("read"));
      assertThat(copied(job)).isPositive();
    }
  }

  /// The source and the copy are released, whichever side ends the step.
  @ParameterizedTest
  @CsvSource({"read, 0", "read, 1", "write, 0", "write, 1"})
  void anEndedStepReleasesTensorsAndCopies(String protocol, int rank) {
    try (LocalJob job = job(protocol, "64M")) {
      for (long step = 0; step < 20; step++) {
        for (int edge = 0; edge < EDGES; edge++) {
          publish(job.ranks().getFirst(), key(edge, step), WORDS, edge, out);
          CompletableFuture<Arrival> arrival = receive(job.ranks().get(1), key(edge, step));
          arrival.thenAccept(
              with -> {
                if (with instanceof Arrival.Live(var tensor)) {
                  tensor.close();
                }
              });
        }
        job.ranks().get(rank).rendezvous().end(step);
        end(job, step);
      }
      step(job, 20);
    }
  }

  @Test
  void theForeignPayloadOfARequestIsCopiedOnceAndNeverRegistered() throws Exception {
    try (LocalJob job = job("read", "64M");
        Arena arena = Arena.ofShared()) {
      MemorySegment payload = arena.allocate(WORDS, 64);
      answerWithLastByte(job);
      for (int i = 0; i < 20; i++) {
        payload.fill((byte) i);
        assertThat(lastByteAtPeer(job, payload)).isEqualTo((byte) i);
      }
      assertThat(transport.foreignRegistrations()).isZero();
    }
  }

  /// A tensor and a payload up to the limit of eager ones travel in messages, a longer one does
  /// not.
  @ParameterizedTest
  @CsvSource({"auto, true", "16000, false", "15999, true", "1M, false"})
  void eagerBytesIsTheLimitOfTensorsAndRequests(String eagerBytes, boolean long16000)
      throws Exception {
    WeftConfig config =
        WeftConfig.builder()
            .transport("inproc")
            .set(CollectiveConfig.EAGER_BYTES, eagerBytes)
            .build();
    try (LocalJob job = LocalJob.start(2, config, transport);
        Arena arena = Arena.ofShared()) {
      Weft source = job.ranks().getFirst();
      CompletableFuture<Arrival> arrival = receive(job.ranks().get(1), key(0, 0));
      publish(source, key(0, 0), 2000, 5, out);
      assertThat(words(arrival)).isEqualTo(model(2000, 5));
      end(job, 0);
      assertThat(source.transfers().copiedBytes()).isEqualTo(long16000 ? 16_000 : 0);
      answerWithLastByte(job);
      MemorySegment payload = arena.allocate(16_000, 64);
      payload.fill((byte) 9);
      assertThat(lastByteAtPeer(job, payload)).isEqualTo((byte) 9);
      assertThat(source.transfers().copiedBytes()).isEqualTo(long16000 ? 32_000 : 0);
    }
  }

  /// Answers requests at rank 1 with the last byte of their payload.
  private static void answerWithLastByte(LocalJob job) {
    job.ranks()
        .get(1)
        .channel()
        .serve(
            FIRST_FREE_KIND,
            request -> {
              MemorySegment payload = request.payload();
              MemorySegment answer = MemorySegment.ofArray(new byte[1]);
              answer.set(JAVA_BYTE, 0, payload.get(JAVA_BYTE, payload.byteSize() - 1));
              request.reply(answer);
            });
  }

  /// Sends a payload from rank 0 to rank 1, and returns the answer.
  private static byte lastByteAtPeer(LocalJob job, MemorySegment payload) throws Exception {
    var answer = new CompletableFuture<Byte>();
    boolean asked =
        job.ranks()
            .getFirst()
            .channel()
            .tryRequest(
                1,
                Request.of(FIRST_FREE_KIND, MemorySegment.NULL, payload, Duration.ofMinutes(1)),
                outcome ->
                    answer.complete(
                        outcome instanceof RequestOutcome.Replied(var body, _)
                            ? body.get(JAVA_BYTE, 0)
                            : (byte) -1));
    assertThat(asked).isTrue();
    return answer.get(1, TimeUnit.MINUTES);
  }
}
