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

/// Models to serve. TensorFlow's own exporter writes the whole graph of a session, Weft's ops with
/// it, and such a model loads nowhere; this one writes what the signatures need and nothing else,
/// so that any TensorFlow loads it: `SavedModelBundle.load(directory)` in Java, TensorFlow Serving,
/// Python.
public final class WeftSavedModel {

  private static final String SERVE = "serve";

  private WeftSavedModel() {}

  /// Writes a SavedModel with this signature; see the other `export`.
  public static void export(Session session, Signature signature, Path directory)
      throws IOException {
    export(session, List.of(signature), directory);
  }

  /// Writes a SavedModel of the tag `serve` into `directory`, which must not exist or be empty, and
  /// which is there whole or not at all. It holds the part of the session's graph between the
  /// inputs and the outputs of the signatures, without devices, and the values that its variables
  /// have in the session: no optimizer, no slots, no op of Weft's. Local to this rank: call it on
  /// one rank, usually rank 0, between two steps.
  ///
  /// Throws `IllegalArgumentException` if two signatures have one key, a signature has no output or
  /// a tensor that the graph lacks, or an output depends on what cannot be served: an op of Weft's,
  /// a placeholder that is no input, a table. Throws `IllegalStateException`, which names the
  /// variable, if one is not initialized, and `IOException` if the files cannot be written.
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
            "signature '" + signature.key() + "' has no output, so that there is nothing to serve");
      }
    }
  }
}
