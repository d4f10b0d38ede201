// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.tensorflow.partition.TransferOps;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.OperationAttributeInspector;
import org.tensorflow.OperationBuilder;
import org.tensorflow.Output;
import org.tensorflow.proto.DataType;

/// The fusion of several sends of a call into one node, for parts that hold all sends until the end
/// of the run. A TensorFlow node costs more than a tensor of a few kilobytes.
public final class FusedSends {

  private record Key(String source, String destination, DataType type) {}

  private FusedSends() {}

  /// Returns the targets with the sends of each destination and type replaced by one new node.
  ///
  /// @param prefix of the names of new nodes
  public static List<GraphOperation> of(Graph graph, String prefix, List<GraphOperation> targets) {
    List<GraphOperation> run = new ArrayList<>();
    Map<Key, List<GraphOperation>> sends = new LinkedHashMap<>();
    for (GraphOperation target : targets) {
      if (target.type().equals(TransferOps.SEND)) {
        sends.computeIfAbsent(key(target), key -> new ArrayList<>()).add(target);
      } else {
        run.add(target);
      }
    }
    for (List<GraphOperation> members : sends.values()) {
      String name = prefix + "/sends/" + run.size();
      run.add(members.size() == 1 ? members.getFirst() : one(graph, name, members));
    }
    return run;
  }

  private static Key key(GraphOperation send) {
    OperationAttributeInspector node = send.attributes();
    return new Key(
        node.getAttrString(TransferOps.SOURCE),
        node.getAttrString(TransferOps.DESTINATION),
        node.getAttrType(TransferOps.TYPE));
  }

  private static GraphOperation one(Graph graph, String name, List<GraphOperation> members) {
    OperationAttributeInspector first = members.getFirst().attributes();
    OperationBuilder one =
        graph
            .opBuilder(TransferOps.SEND, name, graph.baseScope())
            .addInputList(members.stream().flatMap(FusedSends::inputs).toArray(Output<?>[]::new))
            .setAttr(TransferOps.EDGES, joined(members, TransferOps.EDGES))
            .setAttr(TransferOps.TENSOR_NAMES, joined(members, TransferOps.TENSOR_NAMES))
            .setAttr(TransferOps.URGENCIES, urgencies(members))
            .setAttr(TransferOps.SOURCE, first.getAttrString(TransferOps.SOURCE))
            .setAttr(TransferOps.DESTINATION, first.getAttrString(TransferOps.DESTINATION))
            .setAttr(TransferOps.GROUP, first.getAttrInt(TransferOps.GROUP))
            .setAttr(TransferOps.PART, first.getAttrInt(TransferOps.PART));
    for (GraphOperation member : members) {
      member.controlInputs().forEach(one::addControlInput);
    }
    one.build();
    return graph.operation(name);
  }

  private static Stream<Output<?>> inputs(GraphOperation send) {
    return send.inputs().stream().map(input -> input.asOutput());
  }

  private static long[] urgencies(List<GraphOperation> members) {
    return members.stream()
        .flatMapToLong(
            member -> LongStream.of(member.attributes().getAttrIntList(TransferOps.URGENCIES)))
        .toArray();
  }

  private static String[] joined(List<GraphOperation> members, String attribute) {
    return members.stream()
        .flatMap(member -> Stream.of(member.attributes().getAttrStringList(attribute)))
        .toArray(String[]::new);
  }
}
