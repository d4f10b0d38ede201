// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

/// One input of a node: an output of another, or the mere end of it.
///
/// @param node who produces it
/// @param port which of its outputs, from 0; `CONTROL` for a control edge
public record NodeInput(String node, int port) {

  /// The port of a control edge.
  public static final int CONTROL = -1;

  /// Reads an input as a `GraphDef` spells it: `node`, `node:1` or `^node`. Throws
  /// `IllegalArgumentException` for anything else.
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

  /// Whether it carries no tensor.
  public boolean control() {
    return port == CONTROL;
  }

  /// `node:0`, also for the first output; `^node` for a control edge.
  @Override
  public String toString() {
    return control() ? "^" + node : node + ":" + port;
  }
}
