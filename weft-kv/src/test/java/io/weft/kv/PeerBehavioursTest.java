// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.comm.Handle;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks what MXNet's tests of its distributed KVStore check of dense tensors.
@Timeout(120)
class PeerBehavioursTest {

  private static final int SMALL = 9;
  private static final int LARGE = 5000;

  private static void fill(TensorView view, float value) {
    MemorySegment data = view.data();
    for (long i = 0; i < view.shape().elements(); i++) {
      if (view.dtype() == DType.FLOAT32) {
        data.setAtIndex(JAVA_FLOAT, i, value);
      } else {
        data.setAtIndex(JAVA_SHORT, i, Float.floatToFloat16(value));
      }
    }
  }

  private static void requireAll(TensorView view, float value) {
    MemorySegment data = view.data();
    for (long i = 0; i < view.shape().elements(); i++) {
      float found =
          view.dtype() == DType.FLOAT32
              ? data.getAtIndex(JAVA_FLOAT, i)
              : Float.float16ToFloat(data.getAtIndex(JAVA_SHORT, i));
      assertThat(found).as("element %d", i).isEqualTo(value);
    }
  }

  private static KvJob job() {
    return new KvJob(
        "tcp",
        5,
        KvOptions.servers(2),
        it -> it.set(KvConfig.PARTITION, "8K").set(KvConfig.SHARDS, "4"));
  }

  private static TensorLease memory(Weft weft, DType dtype, int elements) {
    return weft.allocate(dtype, Shape.of(elements));
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT32", "FLOAT16"})
  void aHundredSmallAndAHundredLargeTensorsArePulledAsTheyWereInitialized(DType dtype) {
    try (KvJob job = job()) {
      job.onWorkers(
          (store, weft) -> {
            List<KvTensor> tensors = new ArrayList<>();
            List<Handle<Void>> open = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
              int elements = i < 100 ? SMALL : LARGE;
              KvTensor tensor = store.registerTensor(TableSpec.tensor("key" + i, elements));
              float[] values = new float[elements];
              Arrays.fill(values, i + (weft.rank() - 2) * 1000);
              open.add(tensor.init(MemorySegment.ofArray(values)));
              tensors.add(tensor);
            }
            for (Handle<Void> each : open) {
              each.await();
            }
            for (int i = 0; i < 200; i++) {
              try (TensorLease pulled = memory(weft, dtype, i < 100 ? SMALL : LARGE)) {
                tensors.get(i).pull(pulled.view(), 0).await();
                requireAll(pulled.view(), i);
              }
            }
            store.barrier();
          });
    }
  }

  /// The server's update scales by 2, so after round k all values are 1 + 2k n(n+1)/2.
  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT32", "FLOAT16"})
  void afterEachRoundNoValueIsLostOrDoubled(DType dtype) {
    try (KvJob job = job()) {
      job.onWorkers(
          (store, weft) -> {
            for (int elements : new int[] {SMALL, LARGE}) {
              KvTensor tensor =
                  store.registerTensor(
                      TableSpec.tensor("sum" + elements, elements)
                          .withRule("sgd:lr=2")
                          .withInitial("constant:value=1", 0));
              try (TensorLease pushed = memory(weft, dtype, elements);
                  TensorLease pulled = memory(weft, dtype, elements)) {
                fill(pushed.view(), -(weft.rank() - 1));
                for (int round = 1; round <= 10; round++) {
                  tensor.push(pushed.view(), 0).await();
                  tensor.pull(pulled.view(), 0).await();
                  requireAll(pulled.view(), 1 + 2f * round * (1 + 2 + 3));
                }
              }
            }
            store.barrier();
          });
    }
  }
}
