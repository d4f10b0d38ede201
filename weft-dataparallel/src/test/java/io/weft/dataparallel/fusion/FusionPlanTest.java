// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.dataparallel.frame.Signatures;
import io.weft.dataparallel.fusion.FusionPlan.Batch;
import io.weft.dataparallel.negotiation.ReadyTensor;
import io.weft.property.Draw;
import io.weft.property.Property;
import io.weft.tensor.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class FusionPlanTest {

  private static final long KIB_OF_FLOATS = 256;
  private static final long MOST_MIXED_BYTES = 256 << 10;

  /// The rules of a table that fuses all tensors, and priorities in buffers up to 256 KiB.
  private static final FusionPlan.Rules ALL =
      new FusionPlan.Rules(bytes -> true, bytes -> bytes <= MOST_MIXED_BYTES);

  private static ReadyTensor floats(String name, long kib, int priority) {
    return new ReadyTensor(
        name, Signatures.of(DType.FLOAT32, kib * KIB_OF_FLOATS, priority, "", 0));
  }

  private static String words(List<Batch> batches) {
    return batches.stream()
        .map(
            batch ->
                batch.tensors().stream().map(ReadyTensor::name).collect(Collectors.joining("+")))
        .collect(Collectors.joining(" "));
  }

  @Test
  void tensorsShareABufferUpToTheThreshold() {
    var ready = List.of(floats("a", 2, 0), floats("b", 2, 0), floats("c", 1, 0), floats("d", 4, 0));
    assertThat(words(FusionPlan.of(ready, 4096, ALL))).isEqualTo("a+b c d");
    assertThat(words(FusionPlan.of(ready, 5120, ALL))).isEqualTo("a+b+c d");
    assertThat(words(FusionPlan.of(ready, 1 << 20, ALL))).isEqualTo("a+b+c+d");
  }

  @Test
  void aTensorBeyondTheThresholdIsSentAloneAndOthersShareABuffer() {
    var ready = List.of(floats("a", 1, 0), floats("long", 9, 0), floats("b", 1, 0));
    assertThat(words(FusionPlan.of(ready, 4096, ALL))).isEqualTo("a+b long");
  }

  @Test
  void aTensorThatSharesNoBufferIsSentAloneAndOthersShareOne() {
    var ready = List.of(floats("a", 1, 0), floats("b", 2, 0), floats("c", 1, 0));
    var batches =
        FusionPlan.of(ready, 1 << 20, new FusionPlan.Rules(bytes -> bytes <= 1024, bytes -> true));
    assertThat(words(batches)).isEqualTo("a+c b");
  }

  @Test
  void differentTypesShareNoBuffer() {
    var ready =
        List.of(
            floats("a", 1, 0),
            new ReadyTensor("i", Signatures.of(DType.INT32, 9, 0, "", 0)),
            floats("b", 1, 0));
    assertThat(words(FusionPlan.of(ready, 4096, ALL))).isEqualTo("a+b i");
  }

  @Test
  void higherPrioritiesAreSentFirstAndShareOnlyShortBuffers() {
    var ready = List.of(floats("low", 200, 1), floats("high", 100, 3), floats("middle", 100, 2));
    assertThat(words(FusionPlan.of(ready, 1 << 20, ALL))).isEqualTo("high+middle low");
  }

  @Test
  void aGroupStaysTogetherAtItsHighestPriority() {
    var ready =
        List.of(
            new ReadyTensor("g1", Signatures.of(DType.FLOAT32, 4, 0, "g", 2)),
            floats("alone", 1, 1),
            new ReadyTensor("g2", Signatures.of(DType.FLOAT32, 4, 7, "g", 2)));
    assertThat(words(FusionPlan.of(ready, 1 << 20, ALL))).isEqualTo("g1+g2+alone");
  }

  private static List<ReadyTensor> tensors(Draw draw) {
    List<ReadyTensor> ready = new ArrayList<>();
    int count = draw.between(0, 60);
    for (int i = 0; i < count; i++) {
      DType dtype = draw.of(DType.FLOAT32, DType.FLOAT64, DType.INT8);
      long elements = draw.between(0L, 100_000);
      int priority = draw.between(0, 3);
      ready.add(new ReadyTensor("t" + i, Signatures.of(dtype, elements, priority, "", 0)));
    }
    return ready;
  }

  @Test
  void everyTensorTravelsOnceInABufferOfItsTypeWithinTheThreshold() {
    Property.check(
        1000,
        draw ->
            everyTensorTravelsOnceInABufferOfItsTypeWithinTheThreshold(
                tensors(draw), draw.between(1L, 1 << 20)));
  }

  private void everyTensorTravelsOnceInABufferOfItsTypeWithinTheThreshold(
      List<ReadyTensor> ready, long threshold) {
    List<Batch> batches = FusionPlan.of(ready, threshold, ALL);
    assertThat(batches.stream().flatMap(batch -> batch.tensors().stream()).toList())
        .containsExactlyInAnyOrderElementsOf(ready);
    for (Batch batch : batches) {
      assertThat(batch.tensors().stream().map(t -> t.signature().dtype()).distinct()).hasSize(1);
      assertThat(batch.bytes())
          .isEqualTo(batch.tensors().stream().mapToLong(t -> t.signature().bytes()).sum());
      if (batch.isFused()) {
        assertThat(batch.bytes()).isLessThanOrEqualTo(threshold);
      }
      boolean mixed =
          batch.tensors().stream().map(t -> t.signature().priority()).distinct().count() > 1;
      if (mixed) {
        assertThat(batch.bytes()).isLessThanOrEqualTo(MOST_MIXED_BYTES);
      }
    }
    List<Integer> first =
        batches.stream().map(batch -> batch.first().signature().priority()).toList();
    assertThat(first).isSortedAccordingTo((a, b) -> b - a);
  }
}
