// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks pushes in few bits: what MXNet's tests of its compression check, and refused pushes.
@Timeout(120)
class CompressedPushesTest {

  private static final String TWO_BITS = "2bit:threshold=0.5";

  private static KvJob job() {
    return new KvJob(
        "tcp",
        3,
        KvOptions.servers(1),
        it -> it.set(KvConfig.PARTITION, "8K").set(KvConfig.SHARDS, "2"));
  }

  private static MemorySegment all(int elements, float value) {
    float[] values = new float[elements];
    Arrays.fill(values, value);
    return MemorySegment.ofArray(values);
  }

  private static float[] pulled(KvTensor tensor) throws InterruptedException {
    float[] values = new float[(int) tensor.spec().width()];
    tensor.pull(MemorySegment.ofArray(values)).await();
    return values;
  }

  @ParameterizedTest
  @ValueSource(ints = {7, 2048, 10_001})
  void twoBitsKeepValuesBelowTheThresholdUntilTheyReachIt(int elements) {
    try (KvJob job = job()) {
      job.onWorkers(
          (store, weft) -> {
            KvTensor tensor = store.registerTensor(TableSpec.tensor("w", elements));
            tensor.init(all(elements, 0.3f)).await();
            assertThat(pulled(tensor)).containsOnly(0.3f); // first values are not compressed
            try (CompressedPushes pushes = tensor.compressed(TWO_BITS)) {
              pushes.push(all(elements, 0.25f), 0).await();
              assertThat(pulled(tensor)).containsOnly(0.3f);
              pushes.push(all(elements, 0), 0).await();
              assertThat(pulled(tensor)).containsOnly(0.3f);
              pushes.push(all(elements, 0.375f), 0).await(); // 0.625 on each of two workers
              assertThat(pulled(tensor)).containsOnly(1.3f);
              pushes.push(all(elements, -0.75f), 0).await(); // -0.625
              assertThat(pulled(tensor)).containsOnly(0.29999995f);
              pushes.push(all(elements, 0), 0).await();
              assertThat(pulled(tensor)).containsOnly(0.29999995f);
            }
            store.barrier();
          });
    }
  }

  @Test
  void randomGradientsOfTwoBitsEqualThoseOfAModelInEachStep() {
    int elements = 5000;
    try (KvJob job = job()) {
      job.onWorkers(
          (store, weft) -> {
            KvTensor tensor = store.registerTensor(TableSpec.tensor("w", elements));
            float[] expected = new float[elements];
            float[][] kept = new float[2][elements];
            Random[] random = {new Random(1), new Random(2)};
            try (CompressedPushes pushes = tensor.compressed(TWO_BITS)) {
              for (int step = 0; step < 8; step++) {
                float[] mine = new float[elements];
                for (int i = 0; i < elements; i++) {
                  for (int worker = 0; worker < 2; worker++) {
                    float gradient = random[worker].nextFloat() * 2 - 1;
                    mine[i] = worker == weft.rank() - 1 ? gradient : mine[i];
                    float sum = kept[worker][i] + gradient;
                    float sent = sum >= 0.5f ? 0.5f : sum <= -0.5f ? -0.5f : 0;
                    kept[worker][i] = sum - sent;
                    expected[i] += sent; // halves: any order gives the same sum
                  }
                }
                pushes.push(MemorySegment.ofArray(mine), step).await();
                assertThat(pulled(tensor)).isEqualTo(expected);
              }
            }
            store.barrier();
          });
    }
  }

  @ParameterizedTest
  @CsvSource({"fp16, 10002, 0.002", "int8, 5021, 0.02", "int4, 2521, 0.3", TWO_BITS + ", 1271, 5"})
  void theResidualIsSentWithLaterPushes(String compression, long bytes, double most) {
    int elements = 5001;
    try (KvJob job = job()) {
      job.onWorkers(
          (store, weft) -> {
            KvTensor tensor =
                store.registerTensor(
                    TableSpec.tensor("w", elements).with(Consistency.asynchronous()));
            double[] exact = new double[elements];
            var random = new Random(3); // the same on both workers
            try (CompressedPushes pushes = tensor.compressed(compression)) {
              assertThat(pushes.bytes()).isEqualTo(bytes);
              for (int step = 0; step < 40; step++) {
                float[] gradient = new float[elements];
                for (int i = 0; i < elements; i++) {
                  gradient[i] = random.nextFloat() - 0.5f;
                  exact[i] += 2.0 * gradient[i];
                }
                pushes.push(MemorySegment.ofArray(gradient), 0).await();
              }
            }
            store.barrier();
            float[] found = pulled(tensor);
            for (int i = 0; i < elements; i++) {
              assertThat((double) found[i]).as("element %d", i).isCloseTo(exact[i], within(most));
            }
            store.barrier();
          });
    }
  }

  @Test
  void wrongPushesAreRefusedAndTheResidualIsKept() {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTensor tensor = store.registerTensor(TableSpec.tensor("w", 3));
            for (String text : new String[] {"2bit", "2bit:threshold=0", "2bit:threshold=x", "8"}) {
              assertThatIllegalArgumentException()
                  .isThrownBy(() -> tensor.compressed(text))
                  .withMessageContaining(text)
                  .withMessageContaining("int8");
            }
            assertThatIllegalArgumentException()
                .isThrownBy(() -> tensor.compressed("none"))
                .withMessageContaining("what push does");
            try (CompressedPushes pushes = tensor.compressed(TWO_BITS)) {
              pushes.push(all(3, 0.25f), 0).await();
              float[] wrong = {9, Float.NaN, 9};
              assertThatIllegalArgumentException()
                  .isThrownBy(() -> pushes.push(MemorySegment.ofArray(wrong), 0))
                  .withMessageContaining("element 1 is NaN");
              assertThatIllegalArgumentException()
                  .isThrownBy(() -> pushes.push(all(4, 1), 0))
                  .withMessageContaining("16 bytes for 3 elements of FLOAT32, expected 12");
              pushes.push(all(3, 0.25f), 0).await();
              assertThat(pulled(tensor)).containsOnly(0.5f);
            }
          });
    }
  }

  @Test
  void serversRefusePushesOfAnotherLengthAndPullsOfFewBits() throws Exception {
    try (KvJob job = new KvJob("tcp", 2, KvOptions.servers(1))) {
      TableSpec spec = TableSpec.tensor("w", 3000).with(Consistency.asynchronous());
      KvTensor tensor = job.member(1).worker().registerTensor(spec);
      for (Values values : new Values[] {Values.INT8, Values.INT4, Values.INT2}) {
        KvHead head =
            new KvHead(
                KvOp.PUSH,
                new KvHead.Target(0, spec.id()),
                new KvHead.Progress(1, 1, 0),
                KvHead.Listed.NONE,
                values);
        long right = values.bytes(3000);
        for (long bytes : new long[] {0, right - 1, right + 1}) {
          assertThat(RawRequests.ask(job, head, new byte[(int) bytes]).text())
              .contains(values.name(), right + " bytes, not " + bytes);
        }
        KvHead pull =
            new KvHead(
                KvOp.PULL,
                new KvHead.Target(0, spec.id()),
                KvHead.Progress.NONE,
                KvHead.Listed.NONE,
                values);
        assertThat(RawRequests.ask(job, pull, new byte[0]).text()).contains("pushed only");
      }
      assertThat(pulled(tensor)).containsOnly(0);
    }
  }

  @Test
  void aPushThatDecodesToNonFiniteValuesIsRefused() throws Exception {
    try (KvJob job = new KvJob("tcp", 2, KvOptions.servers(1))) {
      TableSpec spec =
          TableSpec.tensor("w", 5).with(Consistency.asynchronous()).with(TableSpec.Checks.FINITE);
      KvTensor tensor = job.member(1).worker().registerTensor(spec);
      KvHead head =
          new KvHead(
              KvOp.PUSH,
              new KvHead.Target(0, spec.id()),
              new KvHead.Progress(1, 1, 0),
              KvHead.Listed.NONE,
              Values.INT8);
      byte[] payload = new byte[9];
      MemorySegment.ofArray(payload).set(JAVA_FLOAT.withByteAlignment(1), 0, Float.NaN);
      assertThat(RawRequests.ask(job, head, payload).text()).contains("NaN of element 0");
      assertThat(pulled(tensor)).containsOnly(0);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"int8", TWO_BITS})
  void aMirrorHasTheDecodedValuesOfItsServer(String compression) throws Exception {
    int elements = 9000;
    try (KvJob job =
        new KvJob(
            "tcp",
            3,
            KvOptions.servers(2).withMirrors(),
            it -> it.set(KvConfig.PARTITION, "8K").set(KvConfig.SHARDS, "4"))) {
      KvTensor tensor = job.member(2).worker().registerTensor(TableSpec.tensor("w", elements));
      float[] gradient = new float[elements];
      var random = new Random(8);
      try (CompressedPushes pushes = tensor.compressed(compression)) {
        for (int step = 0; step < 5; step++) {
          for (int i = 0; i < elements; i++) {
            gradient[i] = random.nextFloat() * 2 - 1;
          }
          pushes.push(MemorySegment.ofArray(gradient), 0).await();
        }
      }
      float[] before = pulled(tensor);
      job.job().ranks().get(0).close();
      assertThat(pulled(tensor)).isEqualTo(before);
    }
  }
}
