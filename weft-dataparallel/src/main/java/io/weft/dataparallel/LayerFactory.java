// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Communicator;
import io.weft.gradient.GradientReducer;

/// The factory of gradient reducers over the reducers of a layer. The training steps of a graph use
/// it: after a failed step they obtain the layer's next reducer and create a gradient reducer over
/// it.
public interface LayerFactory extends GradientReducer.Factory {

  /// Returns the layer whose reducers combine the gradients.
  DataParallel layer();

  /// Returns a gradient reducer over this reducer of the layer, which is borrowed.
  GradientReducer gradients(Reducer reducer);

  @Override
  default GradientReducer reducer(Communicator communicator) {
    return gradients(layer().reducer(communicator));
  }
}
