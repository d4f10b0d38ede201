// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.local;

import io.weft.dataparallel.compress.Element;
import java.util.List;

/// Which weights the elements of a fragment belong to. Pure.
///
/// @param weights their names, in the order in which they lie in the fragment
/// @param elements of each of them
record FragmentSource(List<String> weights, List<Long> elements) {

  /// Throws `IndexOutOfBoundsException` behind the last one.
  Element of(long index) {
    int weight = 0;
    long left = index;
    while (left >= elements.get(weight)) {
      left -= elements.get(weight);
      weight++;
    }
    return new Element("weight '" + weights.get(weight) + "'", left);
  }
}
