// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.tune;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A search for the values with the shortest step: pattern search [HJ61 §1], one parameter at a
/// time. From the best point it moves each parameter in one direction while steps become shorter,
/// then in the other direction. The stride begins with a quarter of the values and is halved after
/// a pass without an improvement, down to 1. The search ends after a pass with stride 1 that found
/// no better point. If candidates are given, it begins at the best of them. No point is measured
/// twice. A gain of less than 2 % does not count, so that noise does not mislead the search.
///
/// It is a function of the measured times: ranks with equal times propose equal points. One thread.
public final class TuningSearch {

  private static final double LEAST_GAIN = 0.98;

  private final List<TunedParameter> parameters;
  private final Map<List<Integer>, Double> measured = new HashMap<>();
  private List<Integer> best;
  private double bestTime = Double.POSITIVE_INFINITY;
  private List<Integer> proposed;
  private final Deque<List<Integer>> candidates = new ArrayDeque<>();
  private int parameter;
  private int stride;
  private int direction = 1;
  private boolean searching;
  private boolean improved;
  private boolean ended;

  /// Creates a search that begins with the parameters' start values.
  public TuningSearch(List<TunedParameter> parameters) {
    this(parameters, List.of());
  }

  /// Creates a search that measures these points first, after the start values.
  ///
  /// @param candidates values in the order of the parameters; the start value replaces a value that
  ///   the parameter does not have
  public TuningSearch(List<TunedParameter> parameters, List<List<Long>> candidates) {
    this.parameters = List.copyOf(parameters);
    this.best = this.parameters.stream().map(TunedParameter::start).toList();
    this.proposed = best;
    this.stride = this.parameters.stream().mapToInt(each -> each.values().size()).max().orElse(1);
    this.stride = Math.max(1, stride / 4);
    candidates.stream()
        .map(this::point)
        .distinct()
        .filter(p -> !p.equals(best))
        .forEach(this.candidates::add);
  }

  /// Returns the values to measure next, in the order of the parameters; empty = the search has
  /// ended.
  public Optional<List<Long>> proposal() {
    return ended ? Optional.empty() : Optional.of(values(proposed));
  }

  /// Returns the present best values; the start values before the first measurement.
  public List<Long> best() {
    return values(best);
  }

  /// Returns the time of a step with the best values.
  public double bestTime() {
    return bestTime;
  }

  /// Returns at most `most` measured points, those with the shortest steps first.
  public List<List<Long>> leaders(int most) {
    return measured.entrySet().stream()
        .sorted(
            Comparator.<Map.Entry<List<Integer>, Double>>comparingDouble(Map.Entry::getValue)
                .thenComparing(each -> each.getKey().toString()))
        .limit(most)
        .map(each -> values(each.getKey()))
        .toList();
  }

  /// Ends the search.
  public void end() {
    ended = true;
  }

  /// Records the time of a step at the proposed point, in any unit; it must be equal on all ranks.
  public void measured(double time) {
    if (ended) {
      throw new IllegalStateException("the search is over");
    }
    boolean first = measured.isEmpty();
    measured.put(proposed, time);
    boolean better = first || time < bestTime * LEAST_GAIN;
    if (better) {
      best = proposed;
      bestTime = time;
    }
    if (!searching) {
      searching = candidates.isEmpty();
      if (searching) {
        propose();
      } else {
        proposed = candidates.remove();
      }
      return;
    }
    if (better) {
      improved = true;
    } else if (direction == 1) {
      direction = -1;
      propose();
      return;
    } else {
      direction = 1;
      parameter++;
      propose();
      return;
    }
    propose();
  }

  /// Proposes the next point that is not measured, from the best point on.
  private void propose() {
    while (true) {
      if (parameter == parameters.size()) {
        parameter = 0;
        direction = 1;
        if (!improved && stride == 1) {
          ended = true;
          return;
        }
        stride = improved ? stride : Math.max(1, stride / 2);
        improved = false;
      }
      List<Integer> next = neighbour();
      Double known = measured.get(next);
      if (known == null) {
        proposed = next;
        return;
      }
      if (direction == 1) {
        direction = -1;
      } else {
        direction = 1;
        parameter++;
      }
    }
  }

  private List<Integer> neighbour() {
    List<Integer> next = new ArrayList<>(best);
    int last = parameters.get(parameter).values().size() - 1;
    next.set(parameter, Math.clamp(best.get(parameter) + (long) direction * stride, 0, last));
    return List.copyOf(next);
  }

  private List<Integer> point(List<Long> values) {
    List<Integer> point = new ArrayList<>();
    for (int p = 0; p < parameters.size(); p++) {
      int at = parameters.get(p).values().indexOf(values.get(p));
      point.add(at < 0 ? parameters.get(p).start() : at);
    }
    return List.copyOf(point);
  }

  private List<Long> values(List<Integer> point) {
    List<Long> values = new ArrayList<>();
    for (int p = 0; p < point.size(); p++) {
      values.add(parameters.get(p).values().get(point.get(p)));
    }
    return List.copyOf(values);
  }
}
