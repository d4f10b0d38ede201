// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import com.google.protobuf.ByteString;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// The names by which sessions with equal graphs share queues, accumulators and other resources.
/// TensorFlow makes a resource without a name private to one session. Gradients that one session
/// puts into such an accumulator would never reach a second session.
public final class SharedNames {

  private static final String SHARED_NAME = "shared_name";

  private SharedNames() {}

  /// Returns the graph with the node's name given to each unnamed resource. Any thread.
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
