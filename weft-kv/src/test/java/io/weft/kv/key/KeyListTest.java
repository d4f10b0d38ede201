// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.key;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KeyListTest {

  @Test
  void slicesHaveEachKeyOnceAndGatherAndScatterItsValues() {
    for (int seed = 0; seed < 300; seed++) {
      var random = new Random(seed);
      int shards = 1 + random.nextInt(5);
      Slicer slicer = random.nextBoolean() ? Slicer.hash() : Slicer.ranges(-20, 20);
      long[] keys = random.longs(random.nextInt(60), -30, 30).toArray();
      float[] values = new float[2 * keys.length];
      Map<Long, Float> sums = new HashMap<>();
      for (int i = 0; i < keys.length; i++) {
        values[2 * i] = i + 1;
        values[2 * i + 1] = -i - 1;
        sums.merge(keys[i], i + 1f, Float::sum);
      }
      float[] back = new float[values.length];
      int distinct = 0;
      for (KeySlice slice :
          KeyList.cut(keys, TableSpec.rows("t", 1).with(slicer), shards, KeyList.Slices.OF_ALL)
              .slices()) {
        float[] rows = new float[2 * slice.count()];
        slice.gather(MemorySegment.ofArray(values), 2, MemorySegment.ofArray(rows));
        for (int i = 0; i < slice.count(); i++) {
          long key = slice.keys().get(JAVA_LONG_UNALIGNED, 8L * i);
          assertThat(slicer.shard(key, shards)).as("seed %d", seed).isEqualTo(slice.shard());
          assertThat(rows[2 * i]).as("seed %d", seed).isEqualTo(sums.get(key));
          assertThat(rows[2 * i + 1]).isEqualTo(-sums.get(key));
        }
        distinct += slice.count();
        slice.scatter(MemorySegment.ofArray(rows), 2, MemorySegment.ofArray(back));
      }
      assertThat(distinct).isEqualTo(sums.size());
      for (int i = 0; i < keys.length; i++) {
        assertThat(back[2 * i]).isEqualTo(sums.get(keys[i]));
      }
    }
  }

  @Test
  void rangesCoverAllKeysInOrder() {
    Slicer all = Slicer.ranges(Long.MIN_VALUE, Long.MAX_VALUE);
    assertThat(all.shard(Long.MIN_VALUE, 7)).isZero();
    assertThat(all.shard(0, 7)).isEqualTo(3);
    assertThat(all.shard(Long.MAX_VALUE, 7)).isEqualTo(6);
    assertThat(Slicer.ranges(0, 9).shard(-5, 2)).isZero();
    assertThat(Slicer.ranges(0, 9).shard(4, 2)).isZero();
    assertThat(Slicer.ranges(0, 9).shard(5, 2)).isEqualTo(1);
    assertThat(Slicer.ranges(0, 9).shard(50, 2)).isEqualTo(1);
  }
}
