// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.tensor.TensorView;

/// The resources that every `Work` of one size uses.
///
/// @param communicator the communicator of all ranks
/// @param options the operation's name and limits
/// @param tiles the data, scales 0 to n(n+1)/2
/// @param tensors allocates and owns the tensors
/// @param bytes size of the larger of input and output, a multiple of 4 n
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

  /// Returns the number of elements of the whole tensor.
  long elements() {
    return bytes / Float.BYTES;
  }

  /// Returns the size of one rank's share in bytes.
  long shareBytes() {
    return bytes / size();
  }

  /// Returns the number of elements of one rank's share.
  long shareElements() {
    return elements() / size();
  }

  /// Returns 1 + 2 + … + n, the scale of the sum over all ranks.
  int sumOfScales() {
    return size() * (size() + 1) / 2;
  }

  /// Allocates a float32 vector.
  TensorView vector(long elements) {
    return tensors.vector(elements);
  }
}
