// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.tensor.TensorView;

/// What every `Work` of one size stands on.
///
/// @param communicator of all ranks
/// @param options the operation's name and limits
/// @param tiles the data, scales 0 to n(n+1)/2
/// @param tensors gives and owns them
/// @param bytes of the larger of input and output, a multiple of 4 n
record Bench(
    Communicator communicator,
    CollectiveOptions options,
    Tiles tiles,
    CaseTensors tensors,
    long bytes) {

  int rank() {
    return communicator.rank();
  }

  int size() {
    return communicator.size();
  }

  /// Elements of the whole tensor.
  long elements() {
    return bytes / Float.BYTES;
  }

  /// Bytes of one rank's share.
  long shareBytes() {
    return bytes / size();
  }

  /// Elements of one rank's share.
  long shareElements() {
    return elements() / size();
  }

  /// 1 + 2 + … + n: the scale of the sum over all ranks.
  int sumOfScales() {
    return size() * (size() + 1) / 2;
  }

  /// A float32 vector.
  TensorView vector(long elements) {
    return tensors.vector(elements);
  }
}
