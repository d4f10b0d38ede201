// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.Weft;
import io.weft.collective.Communicator;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.GraphOperationBuilder;
import org.tensorflow.Operation;
import org.tensorflow.Output;
import org.tensorflow.Session;
import org.tensorflow.proto.DataType;

/// The variables of a graph, and their broadcast to all ranks.
public final class WeftVariables {

  private static final Set<String> REFERENCES = Set.of("Variable", "VariableV2");
  private static final String RESOURCE = "VarHandleOp";

  private WeftVariables() {}

  /// Assigns every variable of the session's graph its value on rank `root` of the job, as the
  /// overload for a communicator does.
  public static void broadcast(Session session, Weft weft, int root) {
    broadcast(session, weft.communicator(), root);
  }

  /// Assigns every variable of the session's graph its value on rank `root`: weights and the
  /// optimizer's slots, except ranks' shares of either. All variables must be initialized, and all
  /// ranks must have the same ones. Call it after `session.initialize()` or a restore, once the
  /// graph is complete; a second call reuses the ops. Blocks until all variables are assigned.
  /// Throws TensorFlow's exception with the communicator's message if a peer is lost or ranks
  /// disagree.
  public static void broadcast(Session session, Communicator communicator, int root) {
    if (root < 0 || root >= communicator.size()) {
      throw new IllegalArgumentException(
          "root " + root + " of a broadcast to " + communicator.size() + " ranks");
    }
    if (communicator.size() == 1) {
      return;
    }
    Graph graph = session.graph();
    List<GraphOperation> variables = new ArrayList<>(variables(graph));
    variables.removeIf(variable -> OptimizerShares.isOwn(variable.name()));
    if (!variables.isEmpty()) {
      session.run(new Broadcast(graph, communicator, root).of(variables));
    }
  }

  /// Returns all variables of the graph, in the order in which they were added.
  public static List<GraphOperation> variables(Graph graph) {
    List<GraphOperation> found = new ArrayList<>();
    graph
        .operations()
        .forEachRemaining(
            op -> {
              if (REFERENCES.contains(op.type()) || resource(op)) {
                found.add(op);
              }
            });
    return found;
  }

  /// Returns whether a variable is a resource, which is read and assigned by its handle, rather
  /// than a reference to its memory.
  public static boolean resource(GraphOperation variable) {
    return variable.type().equals(RESOURCE);
  }

  /// The ops that broadcast to one communicator from one root. The node names contain the
  /// communicator's number, which is private to this process; the tensor names do not.
  private static final class Broadcast {

    private final Graph graph;
    private final int communicator;
    private final int root;
    private final String prefix;
    private final String tensors;

    Broadcast(Graph graph, Communicator communicator, int root) {
      this.graph = graph;
      this.communicator = OpLibrary.load().numberOf(communicator);
      this.root = root;
      this.prefix = "weft/broadcast_" + this.communicator + "_" + root + "/";
      this.tensors = OpLibrary.load().prefix(graph, this.communicator) + "weft/broadcast/";
    }

    /// Returns the name of the node that broadcasts all these variables.
    String of(List<GraphOperation> variables) {
      String all = prefix + "all_" + variables.size();
      if (graph.operation(all) == null) {
        GraphOperationBuilder group = node("NoOp", all);
        for (GraphOperation variable : variables) {
          group.addControlInput(assigned(variable));
        }
        group.build();
      }
      return all;
    }

    private Operation assigned(GraphOperation variable) {
      String name = prefix + variable.name();
      Operation existing = graph.operation(name + "/assign");
      if (existing != null) {
        return existing;
      }
      return resource(variable)
          ? assignedResource(variable, name)
          : assignedReference(variable, name);
    }

    private Operation assignedReference(GraphOperation variable, String name) {
      Output<?> reference = variable.output(0);
      return node("Assign", name + "/assign")
          .addInput(reference)
          .addInput(sent(variable, reference, name))
          .build();
    }

    private Operation assignedResource(GraphOperation variable, String name) {
      Output<?> resource = variable.output(0);
      DataType type = variable.attributes().getAttrType("dtype");
      Output<?> read =
          node("ReadVariableOp", name + "/read")
              .addInput(resource)
              .setAttr("dtype", type)
              .build()
              .output(0);
      return node("AssignVariableOp", name + "/assign")
          .addInput(resource)
          .addInput(sent(variable, read, name))
          .build();
    }

    private Output<?> sent(GraphOperation variable, Output<?> value, String name) {
      requireCarried(variable, value);
      return node(OpLibrary.BROADCAST, name)
          .addInputList(new Output<?>[] {value})
          .setAttr(OpAttributes.TENSOR_NAME, tensors + variable.name())
          .setAttr(OpAttributes.COMMUNICATOR, communicator)
          .setAttr(OpAttributes.ROOT, root)
          .build()
          .output(0);
    }

    private static void requireCarried(GraphOperation variable, Output<?> value) {
      try {
        DataTypes.of(value.dataType());
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "variable '" + variable.name() + "' cannot be broadcast: " + e.getMessage(), e);
      }
    }

    private GraphOperationBuilder node(String type, String name) {
      return graph.opBuilder(type, name, graph.baseScope());
    }
  }
}
