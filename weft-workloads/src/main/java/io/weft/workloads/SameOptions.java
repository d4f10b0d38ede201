// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.workloads.training.RateScaling;
import io.weft.workloads.training.TrainingException;
import io.weft.workloads.training.TrainingSettings;
import io.weft.workloads.training.WeightCheck;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/// A check that all ranks of a training have equal values of the options that change its numbers or
/// its messages. It runs once before any other message. Otherwise ranks would train different
/// models, or wait for each other until the deadline.
final class SameOptions {

  private SameOptions() {}

  /// Throws `TrainingException.Unfit` on all ranks if an option differs, with the option, two ranks
  /// and their values. Collective.
  static void require(Weft weft, TrainOptions options) throws InterruptedException {
    if (weft.size() == 1) {
      return;
    }
    Map<String, String> own = facts(options, weft.config().onFailure().toString());
    own.put("--timeline", TrainTimeline.directory(options, weft).isPresent() ? "DIR" : "none");
    byte[] line = (String.join("\t", own.values()) + "\n").getBytes(StandardCharsets.UTF_8);
    try (TensorLease mine = weft.allocate(DType.UINT8, Shape.of(line.length))) {
      MemorySegment.copy(line, 0, mine.view().data(), ValueLayout.JAVA_BYTE, 0, line.length);
      try (TensorLease all =
          weft.communicator()
              .allgather(mine.view(), CollectiveOptions.named("weft-train/options"))
              .await()) {
        byte[] text = all.view().data().toArray(ValueLayout.JAVA_BYTE);
        compare(
            List.copyOf(own.keySet()),
            new String(text, StandardCharsets.UTF_8)
                .lines()
                .map(rank -> List.of(rank.split("\t", -1)))
                .toList());
      }
    }
  }

  private static void compare(List<String> names, List<List<String>> ranks) {
    List<String> first = ranks.getFirst();
    for (int rank = 1; rank < ranks.size(); rank++) {
      List<String> its = ranks.get(rank);
      if (its.size() != first.size()) {
        throw new TrainingException.Unfit(
            "rank %d and rank 0 run different versions of Weft".formatted(rank));
      }
      for (int i = 0; i < names.size(); i++) {
        if (!its.get(i).equals(first.get(i))) {
          throw new TrainingException.Unfit(
              "rank 0 was started with %s %s, rank %d with %s; start all ranks with equal options"
                  .formatted(names.get(i), first.get(i), rank, its.get(i)));
        }
      }
    }
  }

  private static Map<String, String> facts(TrainOptions options, String onFailure) {
    TrainingSettings settings = options.settings();
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("workload", settings.workload().title());
    facts.put(EngineFlag.NAME, settings.engine().toString());
    facts.put("--via", options.servers().map(s -> s.via().toString()).orElse("none"));
    facts.put("--workers", options.servers().map(s -> "" + s.workers()).orElse("none"));
    facts.put("--servers", options.servers().map(s -> "" + s.servers()).orElse("none"));
    facts.put("--backup", options.servers().map(s -> "" + s.backup()).orElse("none"));
    facts.put("--dense", options.servers().map(s -> s.dense().toString()).orElse("none"));
    facts.put("--enlarged", settings.hidden().size().toString());
    facts.put("--activation", settings.hidden().activation().toString());
    facts.put("--dropout", "" + settings.hidden().dropout());
    facts.put("--epochs", "" + settings.epochs());
    facts.put("--minutes", settings.limit().time().map(Duration::toString).orElse("none"));
    OptionalLong steps = settings.limit().steps();
    facts.put("--steps", steps.isPresent() ? "" + steps.getAsLong() : "none");
    // The passes of a step precede the batch, which contains them.
    facts.putAll(StepFlags.facts(settings));
    facts.put("--batch", "" + settings.batch());
    // The optimizer precedes the rate, whose default depends on it.
    facts.put("--optimizer", settings.optimizer().toString());
    facts.put("--lr", "" + settings.rate());
    facts.put(ScaleFlag.NAME, settings.scaling().map(RateScaling::toString).orElse("none"));
    facts.put("--seed", "" + settings.seed());
    facts.put("--sync", settings.sync().toString());
    facts.put("--balance", settings.shares().toString());
    facts.putAll(GradientFlags.facts(settings, options.threads()));
    facts.put("--check-weights", settings.check().map(WeightCheck::toString).orElse("none"));
    facts.put("--read", settings.read().toString());
    facts.put("--checkpoint", settings.checkpoint().isPresent() ? "DIR" : "none");
    facts.put("--data", kind(options.source().name()));
    facts.put("--on-failure", onFailure);
    return facts;
  }

  /// Returns the kind of data without its directory, which may differ between hosts.
  private static String kind(String source) {
    int where = source.indexOf(" in ");
    return where < 0 ? source : source.substring(0, where);
  }
}
