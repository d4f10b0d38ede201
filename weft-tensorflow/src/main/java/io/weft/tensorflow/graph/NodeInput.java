// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.graph;

/// An input of a node: an output of another node, or a control edge from it.
///
/// @param node the producer
/// @param port the index of the producer's output, from 0; `CONTROL` for a control edge
public record NodeInput(String node, int port) {

  /// The port of a control edge.
  public static final int CONTROL = -1;

  /// Parses an input in the format of a `GraphDef`: `node`, `node:1` or `^node`. Throws
  /// `IllegalArgumentException` for any other text.
  public static NodeInput parse(String text) {
    if (text.startsWith("^")) {
      return new NodeInput(text.substring(1), CONTROL);
    }
    int colon = text.lastIndexOf(':');
    if (colon < 0) {
      return new NodeInput(text, 0);
    }
    String port = text.substring(colon + 1);
    if (colon == 0 || !port.matches("[0-9]{1,9}")) {
      throw new IllegalArgumentException(
          "tensor name '" + text + "'; it must be NODE or NODE:NUMBER");
    }
    return new NodeInput(text.substring(0, colon), Integer.parseInt(port));
  }

  /// Returns whether the input is a control edge, which carries no tensor.
  public boolean control() {
    return port == CONTROL;
  }

  /// Returns `node:0`, also for the first output, or `^node` for a control edge.
  @Override
  public String toString() {
    return control() ? "^" + node : node + ":" + port;
  }
}
