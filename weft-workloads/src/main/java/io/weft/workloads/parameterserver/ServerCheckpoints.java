// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensorflow.session.Fetched;
import io.weft.workloads.checkpoint.CheckpointException;
import io.weft.workloads.checkpoint.Checkpoints;
import io.weft.workloads.checkpoint.History;
import io.weft.workloads.checkpoint.Manifest;
import io.weft.workloads.checkpoint.SavedTensor;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingSettings;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The checkpoints of a run with servers: the state of the servers after each epoch. The first
/// worker keeps them on its host. Used by one thread at a time: by the worker's thread until its
/// first step, then by the thread that ends epochs.
final class ServerCheckpoints {

  private final Checkpoints checkpoints;
  private final TrainingSettings settings;
  private final String dataset;
  private final ServerMemory memory;
  private final Duration limit;
  private final TrainingObserver observer;
  private History history = History.NONE;

  private ServerCheckpoints(
      Path directory, ServedTraining training, ServerMemory memory, Duration limit) {
    this.checkpoints = new Checkpoints(directory);
    this.settings = training.settings();
    this.dataset = training.source().name();
    this.observer = training.observer();
    this.memory = memory;
    this.limit = limit;
  }

  /// Returns the checkpoints; empty if the run keeps none.
  ///
  /// @param limit of a step
  static Optional<ServerCheckpoints> of(
      ServedTraining training, ServerMemory memory, Duration limit) {
    return training
        .settings()
        .checkpoint()
        .map(directory -> new ServerCheckpoints(directory, training, memory, limit));
  }

  /// Returns a manifest that differs from that of a run without servers, which has other variables.
  private Manifest manifest(int epochs) {
    Manifest plain = settings.manifest(dataset, epochs);
    Map<String, String> facts = new LinkedHashMap<>(plain.facts());
    facts.put("sync", settings.sync() + " on parameter servers");
    return new Manifest(epochs, facts);
  }

  /// Restores the state of the servers from a checkpoint, if there is one. Returns the number of
  /// completed epochs. Throws `CheckpointException`.
  ///
  /// @param stepsPerEpoch of this run
  int restore(GraphSession session, int stepsPerEpoch) throws InterruptedException {
    int epochs = checkpoints.epochsDone(manifest(0));
    if (epochs > 0) {
      try (Arena arena = Arena.ofShared()) {
        List<SavedTensor> values = memory.empty(arena);
        history = checkpoints.restore(values, stepsPerEpoch);
        memory.write(session, values, limit);
      }
    }
    return epochs;
  }

  /// Saves the state of the servers. A failure is reported to the observer.
  ///
  /// @param losses of the epoch, step by step
  void endEpoch(GraphSession session, double[] losses) throws InterruptedException {
    history = history.plus(losses, Double.NaN); // the model is tested at the end only
    try (Fetched fetched = memory.read(session, limit)) {
      checkpoints.save(manifest(history.accuracies().size()), history, memory.saved(fetched));
    } catch (CheckpointException unwritable) {
      observer.onUnsaved(String.valueOf(unwritable.getMessage()));
    }
  }

  /// Returns the history before this run, after `restore`.
  History history() {
    return history;
  }
}
