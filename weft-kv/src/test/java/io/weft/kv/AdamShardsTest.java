// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that Adam counts the updates of a table independently of its count of shards.
@Timeout(60)
class AdamShardsTest {

  private static final int PUSHES = 60;
  private static final long SEED = 7;
  private static final long[] KEYS = LongStream.range(0, 40).toArray();

  private static TableSpec adam(TableSpec spec, Consistency consistency) {
    return spec.withRule("adam:lr=0.01").with(consistency);
  }

  /// Returns the rows after pushes of a few keys each by two workers in random order.
  private static float[] rows(int shards, Consistency consistency) throws Exception {
    var random = new Random(SEED);
    try (KvJob job =
        new KvJob("inproc", 3, KvOptions.servers(1), it -> it.set(KvConfig.SHARDS, "" + shards))) {
      TableSpec spec = adam(TableSpec.rows("t", 2), consistency);
      KvTable[] workers = {
        job.member(1).worker().register(spec), job.member(2).worker().register(spec)
      };
      for (int i = 0; i < PUSHES; i++) {
        long[] keys = random.longs(1 + random.nextInt(2), 0, KEYS.length).toArray();
        float[] gradients = new float[2 * keys.length];
        for (int j = 0; j < gradients.length; j++) {
          gradients[j] = random.nextFloat() - 0.3f;
        }
        workers[random.nextInt(2)].push(keys, gradients).await();
      }
      float[] pulled = new float[2 * KEYS.length];
      workers[0].pull(KEYS, pulled).await();
      return pulled;
    }
  }

  private static float[] values(int shards) throws Exception {
    var random = new Random(SEED);
    try (KvJob job =
        new KvJob("inproc", 2, KvOptions.servers(1), it -> it.set(KvConfig.SHARDS, "" + shards))) {
      KvValues values =
          job.member(1)
              .worker()
              .registerValues(adam(TableSpec.values("v", 3), Consistency.asynchronous()));
      for (int i = 0; i < PUSHES; i++) {
        int key = random.nextInt(KEYS.length);
        int length = 1 + key % 3;
        float[] gradients = new float[length];
        for (int j = 0; j < length; j++) {
          gradients[j] = random.nextFloat() - 0.3f;
        }
        values.push(new long[] {key}, new int[] {length}, gradients).await();
      }
      return values.pull(KEYS).values();
    }
  }

  private static float[] tensor(int partElements, int shards) throws Exception {
    var random = new Random(SEED);
    try (KvJob job =
        new KvJob("inproc", 2, KvOptions.servers(1), it -> it.set(KvConfig.SHARDS, "" + shards))) {
      KvTensor tensor =
          job.member(1)
              .worker()
              .registerTensor(
                  adam(TableSpec.tensor("w", 9000), Consistency.asynchronous())
                      .with(Slicer.parts(partElements)));
      float[] gradients = new float[9000];
      for (int i = 0; i < PUSHES; i++) {
        Arrays.fill(gradients, random.nextFloat() - 0.3f);
        tensor.push(MemorySegment.ofArray(gradients)).await();
      }
      float[] pulled = new float[9000];
      tensor.pull(MemorySegment.ofArray(pulled)).await();
      return pulled;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 1})
  void rowsOnSixteenShardsEqualThoseOnOneShard(int staleness) throws Exception {
    var consistency = new Consistency(staleness, 0);
    assertThat(rows(16, consistency))
        .as("seed " + SEED)
        .containsExactly(rows(1, consistency), within(1e-6f));
  }

  @Test
  void valuesOfAnyLengthOnSixteenShardsEqualThoseOnOneShard() throws Exception {
    assertThat(values(16)).as("seed " + SEED).containsExactly(values(1), within(1e-6f));
  }

  @Test
  void aTensorInPartsOnSixteenShardsEqualsThatOnOneShard() throws Exception {
    assertThat(tensor(1024, 16))
        .as("seed " + SEED)
        .containsExactly(tensor(1 << 20, 1), within(1e-6f));
  }
}
