// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import com.google.protobuf.ByteString;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// Names of queues, accumulators and other resources, by which several sessions with equal graphs
/// share them. TensorFlow gives a resource without a name to one session alone: gradients that one
/// session puts into an accumulator would wait there for ever for a second session to take them.
public final class SharedNames {

  private static final String SHARED_NAME = "shared_name";

  private SharedNames() {}

  /// The same graph, each resource of which without a name has that of its node. Any thread.
  public static GraphDef of(GraphDef graph) {
    GraphDef.Builder named = graph.toBuilder();
    for (NodeDef.Builder node : named.getNodeBuilderList()) {
      AttrValue shared = node.getAttrOrDefault(SHARED_NAME, AttrValue.getDefaultInstance());
      if (node.containsAttr(SHARED_NAME) && shared.getS().isEmpty()) {
        node.putAttr(
            SHARED_NAME,
            AttrValue.newBuilder().setS(ByteString.copyFromUtf8(node.getName())).build());
      }
    }
    return named.build();
  }
}
