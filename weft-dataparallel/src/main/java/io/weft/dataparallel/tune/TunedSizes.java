// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.tune;

import io.weft.collective.Tuning;
import io.weft.comm.Handle;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.ReductionRequest;
import io.weft.dataparallel.TensorReducer;
import io.weft.tensor.TensorView;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;

/// The sizes that an autotuner changes: the fusion mode and the longest fusion buffer, and the
/// length and number in flight of the segments of collectives. It is also the reducer that applies
/// these sizes to gradients. Any thread.
public final class TunedSizes implements TensorReducer {

  /// The setting's name of the longest fusion buffer; 0 = tensors are not fused.
  public static final String FUSION_THRESHOLD = "fusion-threshold";

  /// The setting's name of the longest segment; 0 = the length of the rule table.
  public static final String SEGMENT_BYTES = "segment-bytes";

  /// The setting's name of the number of segments in flight between two ranks; 0 = the number of
  /// the rule table.
  public static final String WINDOW = "window";

  private static final List<Long> THRESHOLDS = withAuto(powers(12, 27));
  private static final List<Long> SEGMENTS = withAuto(powers(14, 22));
  private static final List<Long> WINDOWS = withAuto(powers(1, 5));

  private final Reducer fused;
  private final Reducer single;
  private volatile boolean fuses = true;

  /// Creates the sizes of two reducers of the same ranks. Gradients are reduced by one of them, at
  /// first by `fused`.
  ///
  /// @param fused the reducer with negotiation; `single` if ranks cannot negotiate
  /// @param single the reducer that sends each tensor by itself
  public TunedSizes(Reducer fused, Reducer single) {
    this.fused = fused;
    this.single = single;
  }

  @Override
  public Handle<TensorView> allreduce(ReductionRequest request) {
    return (fuses ? fused : single).allreduce(request);
  }

  @Override
  public Handle<List<TensorView>> reduceAll(List<ReductionRequest> group) {
    return (fuses ? fused : single).reduceAll(group);
  }

  /// Returns points that are good in general, in the order of the parameters: fused in buffers of 1
  /// MiB or of 64 MiB, and not fused, each with the segments of the rule table.
  public static List<List<Long>> candidates() {
    return List.of(List.of(1L << 20, 0L, 0L), List.of(1L << 26, 0L, 0L), List.of(0L, 0L, 0L));
  }

  /// Returns the parameters, beginning with the current values.
  ///
  /// @param fixed names of parameters that do not change
  public List<TunedParameter> parameters(Set<String> fixed) {
    Tuning now = fused.tuning();
    List<TunedParameter> all = new ArrayList<>();
    all.add(parameter(FUSION_THRESHOLD, THRESHOLDS, fuses ? fused.fusionThreshold() : 0, fixed));
    all.add(parameter(SEGMENT_BYTES, SEGMENTS, now.segmentBytes(), fixed));
    all.add(parameter(WINDOW, WINDOWS, now.windowSlots(), fixed));
    return List.copyOf(all);
  }

  private TunedParameter parameter(
      String name, List<Long> values, long current, Set<String> fixed) {
    boolean never = name.equals(FUSION_THRESHOLD) && fused.fusionThreshold() == 0;
    boolean stays = fixed.contains(name) || never;
    return stays ? TunedParameter.fixed(name, current) : TunedParameter.from(name, values, current);
  }

  /// Applies these values. All ranks must call this while no operation is in flight.
  public void apply(List<Long> values) throws InterruptedException {
    fuses = values.get(0) != 0;
    if (fuses && fused.fusionThreshold() != 0) {
      fused.fusionThreshold(values.get(0));
    }
    Tuning now = fused.tuning();
    var next =
        new Tuning(
            now.eagerBytes(), Math.toIntExact(values.get(1)), Math.toIntExact(values.get(2)));
    if (!next.equals(now)) {
      Handle<?> first = fused.tune(next);
      Handle<?> second = single.tune(next);
      var unusedFused = first.await();
      var unusedSingle = second.await();
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
