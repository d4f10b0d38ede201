// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.placement.Nodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.tensorflow.proto.GraphDef;

/// Graphs of float scalars on three tasks, drawn from a seed, and a call of each.
///
/// @param graph the whole graph; each node has a device
/// @param call call of the graph
record RandomGraphs(GraphDef graph, GraphCall call) {

  private static final List<String> DEVICES =
      List.of("/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0");
  private static final List<String> OPS = List.of("AddV2", "Maximum", "Mul", "Neg", "Identity");

  static RandomGraphs draw(long seed) {
    Random random = new Random(seed);
    int size = 4 + random.nextInt(random.nextInt(4) == 0 ? 80 : 25);
    Nodes nodes = new Nodes();
    List<String> tensors = new ArrayList<>();
    List<String> all = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      String name = "n" + i;
      String device = DEVICES.get(random.nextInt(DEVICES.size()));
      List<String> inputs = new ArrayList<>();
      String op = "Const";
      if (!tensors.isEmpty() && random.nextInt(6) > 0) {
        op = random.nextInt(8) == 0 ? "NoOp" : OPS.get(random.nextInt(OPS.size()));
        int arity = op.equals("NoOp") ? 0 : op.equals("Neg") || op.equals("Identity") ? 1 : 2;
        for (int j = 0; j < arity; j++) {
          inputs.add(recent(tensors, random));
        }
      }
      for (int j = random.nextInt(8) - 5; j > 0 && !all.isEmpty(); j--) {
        String control = "^" + recent(all, random);
        if (!inputs.contains(control)) {
          inputs.add(control);
        }
      }
      nodes.add(name, op, device, inputs.toArray(String[]::new));
      if (op.equals("Const")) {
        nodes.attribute("value", Nodes.constant(random.nextFloat() * 2 - 1));
      }
      all.add(name);
      if (!op.equals("NoOp")) {
        tensors.add(name);
      }
    }
    List<String> fetches = new ArrayList<>();
    List<String> targets = new ArrayList<>();
    for (String name : all) {
      if (random.nextInt(4) == 0 || name.equals(all.getLast())) {
        (tensors.contains(name) ? fetches : targets).add(name);
      }
    }
    List<String> feeds = new ArrayList<>();
    for (int j = random.nextInt(4) - 1; j > 0; j--) {
      String feed = tensors.get(random.nextInt(tensors.size()));
      if (!feeds.contains(feed) && !fetches.contains(feed)) {
        feeds.add(feed);
      }
    }
    return new RandomGraphs(nodes.build(), new GraphCall(feeds, fetches, targets));
  }

  /// Prefers late names, so that paths are long.
  private static String recent(List<String> names, Random random) {
    int back = Math.min(random.nextInt(names.size()), random.nextInt(names.size()));
    return names.get(names.size() - 1 - back);
  }
}
