// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import ai.djl.Model;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import io.weft.comm.CommException;
import io.weft.dataparallel.ObjectCodec;
import io.weft.dataparallel.Reducer;
import io.weft.tensor.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The parameters of a model in their order, as ranks compare them before they exchange any.
///
/// @param parameters each with its name, its type and shape, and whether it is trained
record ModelSignature(List<Described> parameters) {

  private static final String SEPARATOR = "\t";
  private static final String TRAINED = "trained";
  private static final String FROZEN = "frozen";

  /// One parameter in words.
  ///
  /// @param signature type and shape, such as `FLOAT32[64, 10]`
  /// @param use `trained` or `frozen`
  record Described(String name, String signature, String use) {

    private static Described of(Pair<String, Parameter> named) {
      Parameter parameter = named.getValue();
      return new Described(
          named.getKey(),
          parameter.isInitialized() ? signature(named.getKey(), parameter) : "uninitialized",
          parameter.requiresGradient() ? TRAINED : FROZEN);
    }

    private static String signature(String name, Parameter parameter) {
      var array = parameter.getArray();
      return ArrayMemory.type("parameter '" + name + "'", array.getDataType())
          + Shape.of(array.getShape().getShape()).toString();
    }

    private String words() {
      return signature + ", " + use;
    }

    @Override
    public String toString() {
      return "'" + name + "' (" + words() + ")";
    }
  }

  private static ModelSignature of(Iterable<Pair<String, Parameter>> parameters) {
    List<Described> described = new ArrayList<>();
    parameters.forEach(each -> described.add(Described.of(each)));
    return new ModelSignature(described);
  }

  /// Compares the parameters of the model on all ranks. Throws `CommException.Mismatch` on all
  /// ranks if they differ, and `IllegalArgumentException` if there are none.
  static void requireEqual(Reducer reducer, Model model) {
    ModelSignature own = of(model.getBlock().getParameters());
    List<String> texts;
    try {
      texts = reducer.allgatherObject("djl/parameters", own.text(), ObjectCodec.text());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ranks compare their models", e);
    }
    ModelSignature expected = parse(texts.getFirst());
    for (int rank = 1; rank < texts.size(); rank++) {
      Optional<String> difference = parse(texts.get(rank)).difference(rank, expected);
      if (difference.isPresent()) {
        throw new CommException.Mismatch(
            "model '%s': %s; build the same block on all ranks"
                .formatted(model.getName(), difference.get()));
      }
    }
    if (own.parameters.isEmpty()) {
      throw new IllegalArgumentException(
          "model '%s' has no parameters, expected at least one to train; set a block with parameters"
              .formatted(model.getName()));
    }
  }

  /// Returns the text that `parse` reads: a line for each parameter.
  private String text() {
    StringBuilder text = new StringBuilder();
    for (Described each : parameters) {
      text.append(String.join(SEPARATOR, each.name, each.signature, each.use)).append('\n');
    }
    return text.toString();
  }

  private static ModelSignature parse(String text) {
    return new ModelSignature(
        text.lines()
            .map(line -> line.split(SEPARATOR, -1))
            .filter(parts -> parts.length == 3)
            .map(parts -> new Described(parts[0], parts[1], parts[2]))
            .toList());
  }

  /// Returns the first difference from the parameters of rank 0, in words; empty if there is none.
  ///
  /// @param rank that has these parameters
  private Optional<String> difference(int rank, ModelSignature expected) {
    int count = Math.max(parameters.size(), expected.parameters.size());
    for (int i = 0; i < count; i++) {
      if (i == parameters.size()) {
        return Optional.of(
            "rank %d has no parameter %s, expected it, as on rank 0"
                .formatted(rank, expected.parameters.get(i)));
      }
      Described own = parameters.get(i);
      if (i == expected.parameters.size()) {
        return Optional.of(
            "rank %d has the parameter %s, expected none after %d, as on rank 0"
                .formatted(rank, own, i));
      }
      Described other = expected.parameters.get(i);
      if (!own.name.equals(other.name)) {
        return Optional.of(
            "parameter %d of rank %d is %s, expected %s, as on rank 0"
                .formatted(i + 1, rank, own, other));
      }
      if (!own.equals(other)) {
        return Optional.of(
            "parameter '%s' of rank %d is %s, expected %s, as on rank 0"
                .formatted(own.name, rank, own.words(), other.words()));
      }
    }
    return Optional.empty();
  }
}
