// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.saved;

import io.weft.file.ForeignDirectory;
import io.weft.tensorflow.WeftVariables;
import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.Pruning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.Session;
import org.tensorflow.exceptions.TensorFlowException;
import org.tensorflow.proto.GraphDef;

/// Checkpoints in TensorFlow's format, with all variables of a session's graph under the names of
/// their nodes, including the optimizer's slots. They do not depend on Weft: any program with
/// variables of these names restores them by `Session.restore`, Python by
/// `tf.train.load_checkpoint`. `Session.save` of TensorFlow Java works equally for reference
/// variables, but silently omits resource variables.
public final class WeftCheckpoint {

  private WeftCheckpoint() {}

  /// Writes `prefix.index` and `prefix.data-00000-of-00001` and replaces older ones. Local to this
  /// rank: call it on one rank, between two steps. Throws `IllegalStateException`, which names the
  /// variable, if a variable is not initialized, and `IOException` if the files cannot be written.
  public static void save(Session session, Path prefix) throws IOException {
    Path target = prefix.toAbsolutePath().normalize();
    try (Graph graph = variablesOf(session.graph())) {
      VariableFile variables = new VariableFile(graph);
      WholeDirectory.beside(
          target,
          into -> {
            String name = target.getFileName().toString();
            variables.write(session, into.resolve(name).toString());
            String index = name + ".index";
            for (Path file : ForeignDirectory.entries(into, "*")) {
              if (!file.endsWith(index)) {
                Files.move(
                    file,
                    target.resolveSibling(file.getFileName()),
                    StandardCopyOption.ATOMIC_MOVE);
              }
            }
            // The index is moved last, because it makes the checkpoint valid.
            Files.move(
                into.resolve(index), target.resolveSibling(index), StandardCopyOption.ATOMIC_MOVE);
          });
    }
  }

  /// Assigns all variables of the session's graph the values of a checkpoint of any writer. Every
  /// rank may call it, or one rank, followed by `WeftVariables.broadcast` on all. Throws
  /// `IOException`, which names the path, if the checkpoint is missing or damaged or lacks a
  /// variable; then no variable has changed.
  public static void restore(Session session, Path prefix) throws IOException {
    Path source = prefix.toAbsolutePath().normalize();
    if (!Files.isRegularFile(source.resolveSibling(source.getFileName() + ".index"))) {
      throw new IOException("no checkpoint at " + source + ": " + source + ".index does not exist");
    }
    try (Graph graph = variablesOf(session.graph())) {
      new VariableFile(graph).read(session, source.toString());
    } catch (TensorFlowException e) {
      throw new IOException("cannot restore from " + source + ": " + e.getMessage(), e);
    }
  }

  /// Returns a graph that contains only the same variables.
  private static Graph variablesOf(Graph graph) {
    GraphDef all = graph.toGraphDef();
    List<String> names = WeftVariables.variables(graph).stream().map(GraphOperation::name).toList();
    GraphDef.Builder some = Pruning.to(all, new GraphIndex(all), names).toBuilder().clearLibrary();
    some.getNodeBuilderList().forEach(node -> node.clearDevice());
    Graph variables = new Graph();
    variables.importGraphDef(some.build());
    return variables;
  }
}
