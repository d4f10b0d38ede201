// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/// A comparison of values that must be equal on all workers, by an allgather.
final class SameOnWorkers {

  private SameOnWorkers() {}

  /// Returns when all workers have been found to have equal values. Collective and blocking. Throws
  /// `CommException.Mismatch` on all workers for the first value that differs, with the values of
  /// two ranks.
  ///
  /// @param what the call that needs the check, for messages
  /// @param mine this worker's values, by name
  static void require(Communicator workers, String what, SortedMap<String, String> mine)
      throws InterruptedException {
    byte[] own = encode(mine);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment bytes = arena.allocate(own.length, 8);
      bytes.copyFrom(MemorySegment.ofArray(own));
      var view = new TensorView(DType.UINT8, Shape.of(own.length), bytes);
      CollectiveOptions options = CollectiveOptions.named("kvstore/same");
      try (TensorLease all = workers.allgather(view, options).await()) {
        ByteBuffer in = all.view().data().asByteBuffer();
        List<SortedMap<String, String>> rows = new ArrayList<>();
        for (int rank = 0; rank < workers.size(); rank++) {
          rows.add(decode(in));
        }
        compare(what, rows, workers.members().ranks());
      }
    }
  }

  private static void compare(
      String what, List<SortedMap<String, String>> rows, List<Integer> ranks) {
    SortedMap<String, String> first = rows.getFirst();
    for (int rank = 1; rank < rows.size(); rank++) {
      SortedMap<String, String> its = rows.get(rank);
      var names = new TreeSet<>(first.keySet());
      names.addAll(its.keySet());
      for (String name : names) {
        String here = first.getOrDefault(name, "nothing");
        String there = its.getOrDefault(name, "nothing");
        if (!here.equals(there)) {
          throw new CommException.Mismatch(
              "%s: %s is %s on rank %d, %s on rank %d; give all workers the same"
                  .formatted(what, name, here, ranks.getFirst(), there, ranks.get(rank)));
        }
      }
    }
  }

  /// Encodes the number of pairs, then each name and value as its length in bytes and its UTF-8.
  private static byte[] encode(SortedMap<String, String> values) {
    List<byte[]> texts = new ArrayList<>();
    int bytes = Integer.BYTES;
    for (Map.Entry<String, String> each : values.entrySet()) {
      for (String text : List.of(each.getKey(), each.getValue())) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        texts.add(utf8);
        bytes += Integer.BYTES + utf8.length;
      }
    }
    ByteBuffer out = ByteBuffer.allocate(bytes).putInt(values.size());
    texts.forEach(text -> out.putInt(text.length).put(text));
    return out.array();
  }

  private static SortedMap<String, String> decode(ByteBuffer in) {
    var values = new TreeMap<String, String>();
    int count = in.getInt();
    for (int i = 0; i < count; i++) {
      String name = text(in);
      values.put(name, text(in));
    }
    return values;
  }

  private static String text(ByteBuffer in) {
    byte[] utf8 = new byte[in.getInt()];
    in.get(utf8);
    return new String(utf8, StandardCharsets.UTF_8);
  }
}
