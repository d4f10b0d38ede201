// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.local;

import io.weft.dataparallel.compress.Element;
import java.util.List;

/// The weights to which the elements of a fragment belong. Pure.
///
/// @param weights names of the weights, in the order of their places in the fragment
/// @param elements elements of each weight
record FragmentSource(List<String> weights, List<Long> elements) {

  /// Returns the weight and the place of an element. Throws `IndexOutOfBoundsException` after the
  /// last one.
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
