// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Communicator;
import io.weft.gradient.GradientReducer;

/// Makes what averages gradients over the reducers of a layer. The steps of a graph use it: after a
/// failed step they take the layer's next reducer, and ask for gradients over that.
public interface LayerFactory extends GradientReducer.Factory {

  /// Returns the layer whose reducers carry the gradients.
  DataParallel layer();

  /// Returns what averages gradients over this reducer of the layer, which is borrowed.
  GradientReducer gradients(Reducer reducer);

  @Override
  default GradientReducer over(Communicator communicator) {
    return gradients(layer().over(communicator));
  }
}
