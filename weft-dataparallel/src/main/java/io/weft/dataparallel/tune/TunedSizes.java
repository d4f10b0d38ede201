// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.tune;

import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.dataparallel.Reducer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;

/// The sizes that an autotuner changes: the longest fusion buffer, and the segments of collectives
/// with how many of them are in flight. Stateless but for the reducer and communicator that it
/// holds.
public final class TunedSizes {

  /// The longest fusion buffer, as the setting is called.
  public static final String FUSION_THRESHOLD = "fusion-threshold";

  /// The longest segment, as the setting is called; 0 = as the table of algorithms says.
  public static final String SEGMENT_BYTES = "segment-bytes";

  /// Segments in flight between two ranks; 0 = as the table of algorithms says.
  public static final String WINDOW = "window";

  private static final List<Long> THRESHOLDS = powers(12, 27);
  private static final List<Long> SEGMENTS = withAuto(powers(14, 22));
  private static final List<Long> WINDOWS = withAuto(powers(1, 5));

  private final Communicator communicator;
  private final Reducer reducer;

  /// Those of `reducer`, which is of this communicator.
  public TunedSizes(Communicator communicator, Reducer reducer) {
    this.communicator = communicator;
    this.reducer = reducer;
  }

  /// The parameters, beginning at what holds now.
  ///
  /// @param fixed names of those that stay
  public List<TunedParameter> parameters(Set<String> fixed) {
    Tuning now = communicator.tuning();
    List<TunedParameter> all = new ArrayList<>();
    all.add(parameter(FUSION_THRESHOLD, THRESHOLDS, reducer.fusionThreshold(), fixed));
    all.add(parameter(SEGMENT_BYTES, SEGMENTS, now.segmentBytes(), fixed));
    all.add(parameter(WINDOW, WINDOWS, now.windowSlots(), fixed));
    return List.copyOf(all);
  }

  private TunedParameter parameter(
      String name, List<Long> values, long current, Set<String> fixed) {
    boolean stays = fixed.contains(name) || (name.equals(FUSION_THRESHOLD) && current == 0);
    return stays ? TunedParameter.fixed(name, current) : TunedParameter.from(name, values, current);
  }

  /// Takes these values on all ranks, which all call this while nothing is in flight.
  public void apply(List<Long> values) throws InterruptedException {
    if (reducer.fusionThreshold() != 0) {
      reducer.fusionThreshold(values.get(0));
    }
    Tuning now = communicator.tuning();
    var next =
        new Tuning(
            now.eagerBytes(), Math.toIntExact(values.get(1)), Math.toIntExact(values.get(2)));
    if (!next.equals(now)) {
      var unused = communicator.tune(next).await();
    }
  }

  private static List<Long> powers(int least, int most) {
    return LongStream.rangeClosed(least, most).map(bit -> 1L << bit).boxed().toList();
  }

  private static List<Long> withAuto(List<Long> values) {
    List<Long> all = new ArrayList<>(List.of(0L));
    all.addAll(values);
    return List.copyOf(all);
  }
}
