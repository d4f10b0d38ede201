// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.natives;

import io.weft.Weft;
import io.weft.tensorflow.OpLibrary;
import org.tensorflow.Graph;

/// The program of a job's only rank, which uses TensorFlow directly after `Weft.init` or through
/// Weft's ops.
final class FreshProgram {

  private FreshProgram() {}

  public static void main(String[] args) {
    if (args[0].equals("ops")) {
      System.out.println("loaded " + OpLibrary.load().version());
      return;
    }
    try (Weft weft = Weft.init();
        Graph graph = new Graph()) {
      System.out.println("loaded with " + graph.toGraphDef().getNodeCount() + " of " + weft.size());
    }
  }
}
