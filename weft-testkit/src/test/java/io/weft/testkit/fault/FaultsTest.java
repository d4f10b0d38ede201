// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.tcp.TcpProvider;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class FaultsTest {

  private static final Duration SOON = Duration.ofSeconds(2);

  private final Faults faults = new Faults();

  private LocalJob job(int size) {
    WeftConfig config = WeftConfig.builder().startDeadline(Duration.ofSeconds(30)).build();
    return LocalJob.start(size, config, new FaultyProvider(new TcpProvider(), faults));
  }

  private static OwnedTensor ones(int elements) {
    OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements));
    for (int i = 0; i < elements; i++) {
      tensor.view().data().setAtIndex(ValueLayout.JAVA_FLOAT, i, 1f);
    }
    return tensor;
  }

  private static Handle<TensorView> sum(Weft weft, TensorView t, Duration within) {
    return weft.communicator().allreduce(t, t, ReduceOp.SUM, named("g").within(within));
  }

  private static boolean sums(Weft weft) throws InterruptedException {
    try (OwnedTensor t = ones(100_000)) {
      var unused = sum(weft, t.view(), Duration.ofSeconds(60)).await();
      for (int i = 0; i < 100_000; i++) {
        assertThat(t.view().data().getAtIndex(ValueLayout.JAVA_FLOAT, i)).isEqualTo(weft.size());
      }
    }
    return true;
  }

  /// Returns the failure that ends endless sums on this rank.
  private static CommException failure(Weft weft, Duration within) {
    try (OwnedTensor t = ones(200_000)) {
      return catchThrowableOfType(
          CommException.class,
          () -> {
            while (true) {
              var unused = sum(weft, t.view(), within).await();
            }
          });
    }
  }

  private List<String> failures(LocalJob job) {
    return job.run(weft -> failure(weft, Duration.ofSeconds(60)).getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"cut=0-1", "half-close=1>0", "half-close=0>1", "cut=1>0@7777"})
  void allRanksNameAnEndOfABrokenConnection(String fault) {
    try (LocalJob job = job(3)) {
      job.run(FaultsTest::sums);
      faults.add(FaultPlan.parse(fault));
      List<String> messages = failures(job);
      assertThat(messages.get(0)).containsAnyOf("rank 1 on", "rank 0 on");
      assertThat(messages).allSatisfy(m -> assertThat(m).containsPattern("rank [01] on .*is lost"));
      assertThat(faults.happened()).hasSize(1);
    }
  }

  @Test
  void aConnectionIsCutInTheMiddleOfAFrame() {
    faults.add(FaultPlan.parse("cut=1>0@300000"));
    try (LocalJob job = job(2)) {
      List<String> messages = failures(job);
      assertThat(messages.get(0)).contains("rank 1 on").contains("is lost");
      assertThat(messages.get(1)).contains("rank 0 on").contains("is lost");
      assertThat(faults.happened()).containsExactly("cut 1-0");
    }
  }

  @Test
  void aShortStallAndADelayChangeNoSum() {
    faults.add(FaultPlan.parse("delay=0-1:3ms; stall=0-2:700ms@100000; stall=1>2:300ms"));
    try (LocalJob job = job(3)) {
      for (int i = 0; i < 5; i++) {
        job.run(FaultsTest::sums);
      }
      assertThat(faults.happened())
          .contains("delay 0>1", "delay 1>0", "stall 0>2", "stall 2>0", "stall 1>2");
    }
  }

  @Test
  void stalledDataArrivesAfterTheStallIsHealed() throws InterruptedException {
    try (LocalJob job = job(2);
        OwnedTensor zero = ones(10);
        OwnedTensor one = ones(10)) {
      List<OwnedTensor> tensors = List.of(zero, one);
      job.run(FaultsTest::sums);
      faults.add(FaultPlan.parse("stall=0-1"));
      awaitFaults(2);
      List<Handle<TensorView>> held =
          job.run(weft -> sum(weft, tensors.get(weft.rank()).view(), Duration.ofSeconds(60)));
      for (Handle<TensorView> handle : held) {
        assertThatThrownBy(() -> handle.await(Duration.ofMillis(200)))
            .isInstanceOf(CommException.TimedOut.class);
      }
      faults.heal();
      for (Handle<TensorView> handle : held) {
        var sum = handle.await();
        assertThat(sum.data().getAtIndex(ValueLayout.JAVA_FLOAT, 9)).isEqualTo(2f);
      }
    }
  }

  private void awaitFaults(int count) {
    long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (faults.happened().size() < count && System.nanoTime() < end) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(faults.happened()).hasSize(count);
  }

  @ParameterizedTest
  @ValueSource(strings = {"stall=0-1,2", "stall=0>1,2"})
  void bothSidesOfAPartitionNameTheOtherSide(String fault) {
    try (LocalJob job = job(3)) {
      job.run(FaultsTest::sums);
      faults.add(FaultPlan.parse(fault));
      List<String> messages = job.run(weft -> failure(weft, SOON).getMessage());
      assertThat(messages.get(0)).containsPattern("rank [12] on");
      assertThat(messages.get(1)).contains("rank 0 on");
      assertThat(messages.get(2)).contains("rank 0 on");
    }
  }

  @Test
  void aFlippedBitOfTheHandshakeKeepsTheRankOut() {
    faults.add(FaultPlan.parse("corrupt=1>0@80"));
    WeftConfig config = WeftConfig.builder().startDeadline(Duration.ofSeconds(2)).build();
    var provider = new FaultyProvider(new TcpProvider(), faults);
    assertThatThrownBy(() -> LocalJob.start(2, config, provider).close())
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("rank");
    assertThat(faults.happened()).containsExactly("corrupt 1>0");
  }

  /// Plain TCP has only a 16-bit checksum per packet, so a change after the checksum was verified
  /// is not detected.
  @Test
  void aFlippedBitOfATensorIsNotDetected() {
    int bytes = 4 << 20;
    faults.add(FaultPlan.parse("corrupt=0>1@2M"));
    try (LocalJob job = job(2)) {
      List<Integer> bits =
          job.run(
              weft -> {
                try (OwnedTensor t = OwnedTensor.allocate(DType.UINT8, Shape.of(bytes))) {
                  var unused = weft.communicator().broadcast(t.view(), 0, named("zeros")).await();
                  int set = 0;
                  for (long i = 0; i < bytes; i++) {
                    set += Integer.bitCount(t.view().data().get(ValueLayout.JAVA_BYTE, i) & 0xff);
                  }
                  return set;
                }
              });
      assertThat(bits).containsExactly(0, 1);
    }
  }
}
