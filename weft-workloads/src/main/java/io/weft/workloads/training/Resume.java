// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.tensorflow.WeftVariables;
import io.weft.workloads.checkpoint.CheckpointException;
import io.weft.workloads.checkpoint.Checkpoints;
import io.weft.workloads.checkpoint.History;
import java.util.List;

/// The start of a training with equal state on all ranks: rank 0's checkpoint, or rank 0's initial
/// weights. Every method is collective.
///
/// @param stepsPerEpoch of this run
record Resume(
    TrainingSettings settings,
    String dataset,
    int stepsPerEpoch,
    TrainingJob job,
    RankExchange exchange) {

  /// Restores the engine's state and returns the history before this run. Throws
  /// `CheckpointException` on all ranks if rank 0's checkpoint cannot be used.
  History begin(SessionModel engine) {
    if (settings.checkpoint().isEmpty()) {
      return fresh(engine);
    }
    long[] counts = new long[3];
    History history = History.NONE;
    if (job.rank() == 0) {
      try {
        history = load(engine);
        counts = new long[] {0, history.losses().size(), history.accuracies().size()};
      } catch (CheckpointException e) {
        long[] ignored = exchange.fromRoot("resume", -1, 0, 0);
        throw e;
      }
    }
    counts = exchange.fromRoot("resume", counts);
    if (counts[0] < 0) {
      throw new CheckpointException("rank 0 cannot use its checkpoint; its message says why");
    }
    return counts[2] == 0 ? fresh(engine) : restored(engine, history, counts);
  }

  private History load(SessionModel engine) {
    var checkpoints = new Checkpoints(settings.checkpoint().orElseThrow());
    int epochs = checkpoints.epochsDone(settings.manifest(dataset, 0));
    return epochs == 0 ? History.NONE : checkpoints.restore(engine.state().saved(), stepsPerEpoch);
  }

  private History fresh(SessionModel engine) {
    if (!exchange.alone()) {
      WeftVariables.broadcast(engine.session(), job.communicator(), 0);
    }
    return History.NONE;
  }

  private History restored(SessionModel engine, History history, long[] counts) {
    List<ModelState.Slot> slots = engine.state().slots();
    for (int i = 0; i < slots.size(); i++) {
      exchange.from(0, "resume/" + i, slots.get(i).whole());
    }
    engine.state().assign(engine.session());
    return exchange.from(0, history, (int) counts[1], (int) counts[2]);
  }

  /// Writes a checkpoint on rank 0, if the run keeps checkpoints. A failure is reported to the
  /// observer and does not end the training.
  void save(SessionModel engine, History history, TrainingObserver observer) {
    if (settings.checkpoint().isEmpty()) {
      return;
    }
    ModelState state = engine.state();
    if (job.rank() == 0 || state.isShared()) {
      state.fetch(engine.session());
    }
    if (job.rank() == 0) {
      try {
        new Checkpoints(settings.checkpoint().orElseThrow())
            .save(settings.manifest(dataset, history.accuracies().size()), history, state.saved());
      } catch (CheckpointException unwritable) {
        observer.onUnsaved(String.valueOf(unwritable.getMessage()));
      }
    }
  }
}
