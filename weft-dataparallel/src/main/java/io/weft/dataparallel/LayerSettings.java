// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.IntFunction;

/// The settings that must agree on all ranks of a reducer. Otherwise ranks would cut tensors
/// differently, wait for each other in different ways, or combine the tensors of different models.
/// Each rank sends its settings before the first tensor and compares them.
///
/// @param options of the layer
/// @param place the place in the program that created the layer; empty for a named layer
record LayerSettings(DataParallelOptions options, String place) {

  /// The time that a reducer waits for ranks that have not created their reducer.
  static final Duration LIMIT = Duration.ofMinutes(10);

  private static final String FUSION = "fusion";
  private static final String THRESHOLD = "fusion threshold";
  private static final String CACHE = "cache capacity";
  private static final String PLACE = "place where the DataParallel was made";

  /// Returns the values by name, as text.
  private Map<String, String> values() {
    Map<String, String> values = new LinkedHashMap<>();
    values.put(FUSION, options.fusion().toString());
    values.put(THRESHOLD, Long.toString(options.fusionThreshold()));
    values.put(CACHE, Integer.toString(options.cacheCapacity()));
    values.put(PLACE, place);
    return values;
  }

  Handle<TensorLease> exchange(Communicator communicator) {
    StringJoiner lines = new StringJoiner("\n");
    values().values().forEach(lines::add);
    return RankBytes.exchange(
        communicator,
        lines.toString().getBytes(StandardCharsets.UTF_8),
        CollectiveOptions.named("weft/settings").within(LIMIT));
  }

  /// Throws `CommException.Mismatch`, which names the setting and each rank's value, unless all
  /// ranks have sent equal settings.
  ///
  /// @param sent the settings of all ranks
  /// @param describe returns a rank in words
  void compare(MemorySegment sent, int size, IntFunction<String> describe) {
    List<List<String>> all = new ArrayList<>();
    for (byte[] row : RankBytes.rows(sent, size, describe)) {
      all.add(List.of(new String(row, StandardCharsets.UTF_8).split("\n", -1)));
    }
    int at = 0;
    for (String name : values().keySet()) {
      Map<String, List<Integer>> ranks = new LinkedHashMap<>();
      for (int rank = 0; rank < size; rank++) {
        List<String> own = all.get(rank);
        String value = at < own.size() ? own.get(at) : "of another build of Weft";
        ranks.computeIfAbsent(value, v -> new ArrayList<>()).add(rank);
      }
      if (ranks.size() > 1) {
        throw new CommException.Mismatch(words(name, ranks, describe));
      }
      at++;
    }
  }

  private static String words(
      String name, Map<String, List<Integer>> ranks, IntFunction<String> describe) {
    StringJoiner words = new StringJoiner(", ");
    ranks.forEach(
        (value, of) -> {
          String more = of.size() > 1 ? " and " + (of.size() - 1) + " more" : "";
          words.add((value.isEmpty() ? "none" : value) + " on " + describe.apply(of.get(0)) + more);
        });
    String remedy =
        name.equals(PLACE)
            ? "; ranks make their DataParallels in different orders, so that tensors of different"
                + " models would meet: give each one a name by DataParallelOptions.named"
            : "; set equal values on all ranks";
    return name + " differs: " + words + remedy;
  }
}
