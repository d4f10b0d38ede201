// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.saved;

import io.weft.tensorflow.WeftVariables;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.GraphOperationBuilder;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.Tensor;
import org.tensorflow.ndarray.StdArrays;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.SaverDef;
import org.tensorflow.types.TBool;
import org.tensorflow.types.TString;

/// The nodes with which a graph writes its variables to a checkpoint's files and reads them back.
/// They support reference and resource variables, whereas TensorFlow Java's own saver supports only
/// the former. The nodes are in a separate graph. The values are fetched from, and assigned in, the
/// training graph, to which one or two nodes are added once for each variable.
final class VariableFile {

  private final Graph graph;
  private final Ops tf;
  private final String prefix;
  private final List<GraphOperation> variables;
  private final List<Output<?>> reads = new ArrayList<>();
  private final List<Output<?>> restored = new ArrayList<>();
  private final SaverDef saver;

  /// Adds the nodes to `graph` for all of its variables.
  VariableFile(Graph graph) {
    this.graph = graph;
    this.prefix = free(graph);
    this.tf = Ops.create(graph).withSubScope(prefix);
    this.variables = WeftVariables.variables(graph);
    var filename = tf.withName("filename").placeholder(TString.class);
    Operation save;
    Operation restore;
    if (variables.isEmpty()) {
      save = tf.withName("control_dependency").identity(filename).op();
      restore = tf.withName("restore_all").noOp().op();
    } else {
      String[] names = variables.stream().map(GraphOperation::name).toArray(String[]::new);
      Operand<TString> keys = tf.constant(StdArrays.ndCopyOf(names));
      Operand<TString> slices = tf.zerosLike(keys);
      for (GraphOperation variable : variables) {
        reads.add(read(graph, variable, prefix + "/read/" + variable.name()));
      }
      Op written = tf.train.save(filename, keys, slices, new ArrayList<Operand<?>>(reads));
      save =
          tf.withControlDependencies(List.of(written))
              .withName("control_dependency")
              .identity(filename)
              .op();
      restore = restore(filename, keys, slices);
    }
    saver =
        SaverDef.newBuilder()
            .setFilenameTensorName(filename.op().name() + ":0")
            .setSaveTensorName(save.name())
            .setRestoreOpName(restore.name())
            .setVersion(SaverDef.CheckpointFormatVersion.V2)
            .build();
  }

  /// Returns the names by which programs find the nodes.
  SaverDef saver() {
    return saver;
  }

  /// Writes the values of these variables in `source`. Throws `IllegalStateException`, which names
  /// the variable, if a variable is not initialized.
  void write(Session source, String path) {
    Graph trained = source.graph();
    try (Session session = new Session(graph);
        TString file = TString.scalarOf(path)) {
      Session.Runner save =
          session
              .runner()
              .feed(saver.getFilenameTensorName(), file)
              .addTarget(saver.getSaveTensorName());
      if (variables.isEmpty()) {
        return;
      }
      List<GraphOperation> originals =
          variables.stream().map(variable -> trained.operationOrThrow(variable.name())).toList();
      requireInitialized(source, originals);
      Session.Runner fetch = source.runner();
      originals.forEach(original -> fetch.fetch(value(trained, original)));
      try (Result values = fetch.run()) {
        for (int i = 0; i < reads.size(); i++) {
          save.feed(reads.get(i), values.get(i));
        }
        save.run().close();
      }
    }
  }

  /// Checks initialization, because TensorFlow's own message does not name a resource variable.
  private static void requireInitialized(Session session, List<GraphOperation> variables) {
    Session.Runner fetch = session.runner();
    variables.forEach(variable -> fetch.fetch(initialized(session.graph(), variable)));
    try (Result known = fetch.run()) {
      for (int i = 0; i < variables.size(); i++) {
        if (!((TBool) known.get(i)).getBoolean()) {
          throw new IllegalStateException(
              "variable '"
                  + variables.get(i).name()
                  + "' has no value in this session; initialize or restore variables before they"
                  + " are saved");
        }
      }
    }
  }

  /// Assigns the variables of these names in `target` the values of the file.
  void read(Session target, String path) {
    if (variables.isEmpty()) {
      return;
    }
    try (Session session = new Session(graph);
        TString file = TString.scalarOf(path)) {
      Session.Runner fetch = session.runner().feed(saver.getFilenameTensorName(), file);
      restored.forEach(fetch::fetch);
      try (Result values = fetch.run()) {
        Session.Runner assign = target.runner();
        for (int i = 0; i < restored.size(); i++) {
          assign(target.graph(), variables.get(i).name(), values.get(i), assign);
        }
        assign.run().close();
      }
    }
  }

  private static void assign(Graph graph, String variable, Tensor value, Session.Runner runner) {
    String name = "weft/restore/" + variable;
    GraphOperation assign = graph.operation(name + "/assign");
    if (assign == null) {
      GraphOperation original = graph.operationOrThrow(variable);
      Output<?> fed =
          node(graph, "Placeholder", name).setAttr("dtype", typeOf(original)).build().output(0);
      assign = assigned(graph, original, fed, name + "/assign");
    }
    runner.feed(name, value).addTarget(assign);
  }

  private Operation restore(Operand<TString> filename, Operand<TString> keys, Operand<?> slices) {
    DataType[] types = variables.stream().map(VariableFile::typeOf).toArray(DataType[]::new);
    Operation values =
        node(graph, "RestoreV2", prefix + "/restore")
            .addInput(filename.asOutput())
            .addInput(keys.asOutput())
            .addInput(slices.asOutput())
            .setAttr("dtypes", types)
            .build();
    GraphOperationBuilder all = node(graph, "NoOp", prefix + "/restore_all");
    for (int i = 0; i < types.length; i++) {
      GraphOperation variable = variables.get(i);
      restored.add(values.output(i));
      all.addControlInput(
          assigned(graph, variable, values.output(i), prefix + "/assign/" + variable.name()));
    }
    return all.build();
  }

  /// Returns the variable's value in the training graph.
  private static Output<?> value(Graph graph, GraphOperation variable) {
    if (!WeftVariables.resource(variable)) {
      return variable.output(0);
    }
    String name = "weft/read/" + variable.name();
    GraphOperation known = graph.operation(name);
    return known == null ? read(graph, variable, name) : known.output(0);
  }

  private static Output<?> initialized(Graph graph, GraphOperation variable) {
    String name = "weft/initialized/" + variable.name();
    GraphOperation known = graph.operation(name);
    if (known != null) {
      return known.output(0);
    }
    String type = WeftVariables.resource(variable) ? "VarIsInitializedOp" : "IsVariableInitialized";
    return node(graph, type, name).addInput(variable.output(0)).build().output(0);
  }

  private static Output<?> read(Graph graph, GraphOperation variable, String name) {
    GraphOperationBuilder read =
        WeftVariables.resource(variable)
            ? node(graph, "ReadVariableOp", name).setAttr("dtype", typeOf(variable))
            : node(graph, "Identity", name);
    return read.addInput(variable.output(0)).build().output(0);
  }

  private static GraphOperation assigned(
      Graph graph, GraphOperation variable, Output<?> value, String name) {
    return node(graph, WeftVariables.resource(variable) ? "AssignVariableOp" : "Assign", name)
        .addInput(variable.output(0))
        .addInput(value)
        .build();
  }

  private static DataType typeOf(GraphOperation variable) {
    return variable.attributes().getAttrType("dtype");
  }

  private static GraphOperationBuilder node(Graph graph, String type, String name) {
    return graph.opBuilder(type, name, graph.baseScope());
  }

  /// Returns `save`, TensorFlow's name, or a similar name if the graph has such nodes.
  private static String free(Graph graph) {
    List<String> names = new ArrayList<>();
    graph.operations().forEachRemaining(op -> names.add(op.name()));
    String free = "save";
    for (int i = 1; taken(names, free); i++) {
      free = "save_" + i;
    }
    return free;
  }

  private static boolean taken(List<String> names, String scope) {
    return names.stream().anyMatch(name -> name.equals(scope) || name.startsWith(scope + "/"));
  }
}
