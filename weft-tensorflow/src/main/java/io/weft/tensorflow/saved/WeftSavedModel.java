// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.saved;

import io.weft.file.NewFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.tensorflow.Graph;
import org.tensorflow.Session;
import org.tensorflow.Signature;
import org.tensorflow.TensorFlow;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.MetaGraphDef;
import org.tensorflow.proto.SavedModel;

/// Exports of models to serve. TensorFlow's own exporter writes the whole graph of a session,
/// including Weft's ops, so no other program can load the model. This exporter writes only the
/// nodes that the signatures need, so any TensorFlow loads it: `SavedModelBundle.load(directory)`
/// in Java, TensorFlow Serving, Python.
public final class WeftSavedModel {

  private static final String SERVE = "serve";

  private WeftSavedModel() {}

  /// Writes a SavedModel with one signature, like the overload for several.
  public static void export(Session session, Signature signature, Path directory)
      throws IOException {
    export(session, List.of(signature), directory);
  }

  /// Writes a SavedModel of the tag `serve` to `directory`, which must be absent or empty. The
  /// model appears completely or not at all. It contains the part of the session's graph between
  /// the inputs and the outputs of the signatures, without devices, and the values that its
  /// variables have in the session. It contains no optimizer, slots or Weft ops. Local to this
  /// rank: call it on one rank, usually rank 0, between two steps.
  ///
  /// Throws `IllegalArgumentException` for an empty list, if two signatures have one key, if a
  /// signature has no output or a tensor that the graph lacks, or if an output depends on a node
  /// that cannot be served: a Weft op, a placeholder that is not an input, a hash table or an
  /// iterator. Throws `IllegalStateException`, which names the variable, if a variable is not
  /// initialized. Throws `IOException` if the files cannot be written.
  public static void export(Session session, List<Signature> signatures, Path directory)
      throws IOException {
    requireDistinct(signatures);
    GraphDef served = ServedGraph.of(session.graph(), signatures);
    WholeDirectory.write(
        directory,
        into -> {
          try (Graph graph = new Graph()) {
            graph.importGraphDef(served);
            VariableFile variables = new VariableFile(graph);
            Path folder = Files.createDirectory(into.resolve("variables"));
            variables.write(session, folder.resolve("variables").toString());
            MetaGraphDef.Builder meta =
                MetaGraphDef.newBuilder()
                    .setMetaInfoDef(
                        MetaGraphDef.MetaInfoDef.newBuilder()
                            .addTags(SERVE)
                            .setTensorflowVersion(TensorFlow.version()))
                    .setGraphDef(graph.toGraphDef())
                    .setSaverDef(variables.saver());
            for (Signature signature : signatures) {
              meta.putSignatureDef(signature.key(), SavedSignatures.definition(signature));
            }
            SavedModel model =
                SavedModel.newBuilder().setSavedModelSchemaVersion(1).addMetaGraphs(meta).build();
            NewFile.write(into.resolve("saved_model.pb"), model.toByteArray());
          }
        });
  }

  private static void requireDistinct(List<Signature> signatures) {
    if (signatures.isEmpty()) {
      throw new IllegalArgumentException("a model without a signature can not be called");
    }
    Set<String> keys = new HashSet<>();
    for (Signature signature : signatures) {
      if (!keys.add(signature.key())) {
        throw new IllegalArgumentException("two signatures have the key '" + signature.key() + "'");
      }
      if (signature.outputNames().isEmpty()) {
        throw new IllegalArgumentException(
            "signature '" + signature.key() + "' has no output to serve");
      }
    }
  }
}
