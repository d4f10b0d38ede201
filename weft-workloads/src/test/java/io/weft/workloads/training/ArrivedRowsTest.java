// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.workloads.data.Examples;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks the order and the contents of rows that arrive in rounds.
class ArrivedRowsTest {

  private static final int FEATURES = 3;
  private static final int ALL = 500;

  private static Examples examples(Random random, int count) {
    byte[] values = new byte[count * FEATURES];
    random.nextBytes(values);
    byte[] labels = new byte[count];
    for (int i = 0; i < count; i++) {
      labels[i] = (byte) random.nextInt(10);
    }
    return new Examples(FEATURES, 10, 1, values, labels);
  }

  private static int[] some(Random random, int count) {
    int[] all = IntStream.range(0, ALL).toArray();
    for (int i = 0; i < count; i++) {
      int j = i + random.nextInt(ALL - i);
      int held = all[i];
      all[i] = all[j];
      all[j] = held;
    }
    return IntStream.range(0, count).map(i -> all[i]).toArray();
  }

  private static byte[] parcel(Examples all, int... numbers) {
    ByteBuffer rows = ByteBuffer.allocate(numbers.length * (Integer.BYTES + 1 + FEATURES));
    for (int number : numbers) {
      rows.putInt(number).put(all.labels()[number]);
      rows.put(all.values(), number * FEATURES, FEATURES);
    }
    return rows.array();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void rowsOfManyRoundsEndInTheRequestedOrder(boolean inPlace) {
    for (int seed = 0; seed < 300; seed++) {
      var random = new Random(seed);
      Examples all = examples(random, ALL);
      int[] wanted = some(random, random.nextInt(ALL));
      int[] coming = wanted.clone();
      for (int i = coming.length - 1; i > 0; i--) {
        int j = random.nextInt(i + 1);
        int held = coming[i];
        coming[i] = coming[j];
        coming[j] = held;
      }
      Examples before = examples(random, wanted.length + random.nextInt(20));
      var arrived = new ArrivedRows(before, inPlace, wanted.length);
      int free = 0;
      for (int at = 0; at < coming.length; ) {
        int next = Math.min(coming.length, at + random.nextInt(40));
        free = Math.min(before.count(), free + random.nextInt(40));
        arrived.add(
            parcel(all, IntStream.range(at, next).map(i -> coming[i]).toArray()),
            inPlace ? free : wanted.length);
        at = next;
      }
      arrived.add(new byte[0], before.count());
      assertThat(arrived.inOrder(wanted)).as("seed %d", seed).isEqualTo(all.select(wanted));
    }
  }

  @Test
  void onlyFreePlacesAreOverwritten() {
    var random = new Random(1);
    Examples all = examples(random, ALL);
    Examples before = examples(random, 4);
    byte[] kept = before.values().clone();
    var arrived = new ArrivedRows(before, true, 4);
    arrived.add(parcel(all, 3, 2, 1), 1);
    assertThat(before.values()).startsWith(all.select(new int[] {3}).values());
    assertThat(before.values())
        .endsWith(IntStream.range(3, 12).mapToObj(i -> kept[i]).toArray(Byte[]::new));
  }

  @Test
  void aRowThatComesTwiceOrWasNotRequestedOrIsMissingIsReported() {
    Examples all = examples(new Random(1), ALL);
    assertThatThrownBy(() -> received(all, 7, 7).inOrder(new int[] {7, 8}))
        .hasMessage("the row for position 0 has arrived twice");
    assertThatThrownBy(() -> received(all, 7, 9).inOrder(new int[] {7, 8}))
        .hasMessage("row 9 came to a rank that does not want it");
    assertThatThrownBy(() -> received(all, 7).inOrder(new int[] {7, 8}))
        .hasMessage("1 of 2 rows have arrived");
    assertThatThrownBy(() -> received(all, 7, 8, 9).inOrder(new int[] {7, 8}))
        .hasMessage("2 of 2 rows have arrived, and further ones");
  }

  private static ArrivedRows received(Examples all, int... numbers) {
    var arrived = new ArrivedRows(all, false, 2);
    arrived.add(parcel(all, numbers), 2);
    return arrived;
  }
}
