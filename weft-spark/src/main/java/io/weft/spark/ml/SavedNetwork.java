// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import io.weft.file.ScratchDirectory;
import io.weft.spark.model.ModelFactory;
import io.weft.spark.model.TrainedModel;
import io.weft.tensorflow.natives.TensorFlowLibraries;
import io.weft.tensorflow.saved.WeftSavedModel;
import java.io.IOException;
import java.io.Serial;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.tensorflow.Operand;
import org.tensorflow.SavedModelBundle;
import org.tensorflow.Session;
import org.tensorflow.Signature;
import org.tensorflow.types.TFloat32;

/// A trained network as the files of a SavedModel in memory, by which Spark carries it to executors
/// and to its file systems. Any TensorFlow loads the files. Immutable.
final class SavedNetwork implements TrainedModel {

  /// The names of the input and the output in the model's signature.
  static final String INPUT = "features";

  static final String OUTPUT = "output";

  /// The files of a SavedModel without assets.
  static final String[] FILES = {
    "saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"
  };

  @Serial private static final long serialVersionUID = 1L;
  private static final int MOST_BYTES = Integer.MAX_VALUE - 64;

  private final TreeMap<String, byte[]> files;

  /// @param files the contents by their names
  SavedNetwork(Map<String, byte[]> files) {
    this.files = new TreeMap<>(files);
    for (String file : FILES) {
      Objects.requireNonNull(files.get(file), file);
    }
  }

  /// Returns the network between `features` and `output` with its values in the session.
  static SavedNetwork of(Session session, Operand<TFloat32> features, Operand<TFloat32> output)
      throws IOException {
    try (ScratchDirectory scratch = scratch()) {
      Path directory = scratch.path().resolve("model");
      Signature signature =
          Signature.builder().input(INPUT, features).output(OUTPUT, output).build();
      WeftSavedModel.export(session, signature, directory);
      var files = new TreeMap<String, byte[]>();
      for (String file : FILES) {
        files.put(file, ForeignFile.found(directory.resolve(file)).bytes(MOST_BYTES));
      }
      return new SavedNetwork(files);
    }
  }

  @Override
  public SortedMap<String, byte[]> files() {
    return Collections.unmodifiableSortedMap(files);
  }

  @Override
  public Optional<ModelFactory> factory() {
    return Optional.empty();
  }

  @Override
  public LoadedNetwork load() {
    String version = TensorFlowLibraries.load();
    assert !version.isEmpty();
    try (ScratchDirectory scratch = scratch()) {
      Path variables = Files.createDirectory(scratch.path().resolve("variables"));
      assert Files.isDirectory(variables);
      for (String file : FILES) {
        NewFile.write(scratch.path().resolve(file), Objects.requireNonNull(files.get(file), file));
      }
      return new LoadedNetwork(SavedModelBundle.load(scratch.path().toString()));
    } catch (IOException full) {
      throw new UncheckedIOException("the network cannot be written to the local disk", full);
    }
  }

  private static ScratchDirectory scratch() throws IOException {
    return ScratchDirectory.create(
        Path.of(System.getProperty("java.io.tmpdir", "/tmp")), "weft-spark-model");
  }

  @Override
  public String toString() {
    return "SavedNetwork[" + files.values().stream().mapToLong(f -> f.length).sum() + " bytes]";
  }
}
