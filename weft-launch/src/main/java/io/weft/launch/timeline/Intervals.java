// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Disjoint intervals of time, ascending. Immutable.
record Intervals(List<Interval> intervals) {

  /// The time between `from` and `to`, which is not empty.
  record Interval(long from, long to) {}

  Intervals {
    intervals = List.copyOf(intervals);
  }

  /// Returns the time within `from` and `to` that any of these covers.
  static Intervals union(List<Interval> of, long from, long to) {
    List<Interval> disjoint = new ArrayList<>();
    long covered = from;
    for (Interval each : of.stream().sorted(Comparator.comparingLong(Interval::from)).toList()) {
      long begin = Math.max(covered, each.from());
      long end = Math.min(to, each.to());
      if (end > begin) {
        disjoint.add(new Interval(begin, end));
        covered = end;
      }
    }
    return new Intervals(disjoint);
  }

  /// Returns the time that these cover and the others do not.
  Intervals without(Intervals others) {
    List<Interval> left = new ArrayList<>();
    int next = 0;
    for (Interval each : intervals) {
      long begin = each.from();
      while (next < others.intervals.size() && others.intervals.get(next).to() <= begin) {
        next++;
      }
      for (int at = next;
          at < others.intervals.size() && others.intervals.get(at).from() < each.to();
          at++) {
        Interval other = others.intervals.get(at);
        if (other.from() > begin) {
          left.add(new Interval(begin, other.from()));
        }
        begin = Math.max(begin, other.to());
      }
      if (begin < each.to()) {
        left.add(new Interval(begin, each.to()));
      }
    }
    return new Intervals(left);
  }

  /// Returns how much of this time these cover.
  long overlap(long from, long to) {
    long sum = 0;
    for (int at = firstEndingAfter(from);
        at < intervals.size() && intervals.get(at).from() < to;
        at++) {
      Interval each = intervals.get(at);
      sum += Math.min(to, each.to()) - Math.max(from, each.from());
    }
    return sum;
  }

  long nanos() {
    return intervals.stream().mapToLong(each -> each.to() - each.from()).sum();
  }

  private int firstEndingAfter(long from) {
    int low = 0;
    int high = intervals.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (intervals.get(middle).to() > from) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
