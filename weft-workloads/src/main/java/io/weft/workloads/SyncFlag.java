// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.dataparallel.local.LocalSgdOptions;
import io.weft.dataparallel.local.OuterOptimizer;
import io.weft.workloads.training.Sync;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The option `--sync` of a training in which every rank has the whole model.
final class SyncFlag {

  static final String NAME = "--sync";
  static final String DESCRIPTION =
      "gradients (default); weights:K to average every K steps; local:H[,bits=8|4][,fragments=F]"
          + "[,delay=T][,lr=R][,momentum=M] for local SGD with an outer optimizer every H steps";

  private static final String ALLOWED =
      "gradients, weights:K with K from 1 to 9999999, or local:H with H likewise and perhaps"
          + " ,bits=32|8|4 ,fragments=F ,delay=T ,lr=R ,momentum=M; async is for --via weft or"
          + " grpc";

  private SyncFlag() {}

  /// Parses the option. Throws `BadOption`.
  static Sync parse(Optional<String> given) {
    String text = given.orElse("gradients");
    if (text.equals("gradients")) {
      return new Sync.Gradients();
    }
    if (text.matches("weights:[1-9][0-9]{0,6}")) {
      return new Sync.Weights(Integer.parseInt(text.substring("weights:".length())));
    }
    if (text.startsWith("local:")) {
      return new Sync.Local(local(text));
    }
    throw BadOption.of(NAME, text, ALLOWED);
  }

  private static LocalSgdOptions local(String text) {
    List<String> parts = List.of(text.substring("local:".length()).split(",", -1));
    if (!parts.getFirst().matches("[1-9][0-9]{0,6}")) {
      throw BadOption.of(NAME, text, ALLOWED);
    }
    LocalSgdOptions options = LocalSgdOptions.every(Integer.parseInt(parts.getFirst()));
    Set<String> seen = new HashSet<>();
    for (String part : parts.subList(1, parts.size())) {
      int equals = part.indexOf('=');
      if (equals < 0 || !seen.add(part.substring(0, equals))) {
        throw BadOption.of(NAME, text, ALLOWED);
      }
      options = with(options, part.substring(0, equals), part.substring(equals + 1), text);
    }
    return options;
  }

  private static LocalSgdOptions with(
      LocalSgdOptions options, String key, String value, String text) {
    OuterOptimizer outer = options.outer();
    try {
      return switch (key) {
        case "bits" -> options.inBits(Integer.parseInt(value));
        case "fragments" -> options.inFragments(Integer.parseInt(value));
        case "delay" -> options.after(Integer.parseInt(value));
        case "lr" -> options.by(new OuterOptimizer(Float.parseFloat(value), outer.momentum()));
        case "momentum" ->
            options.by(new OuterOptimizer(outer.learningRate(), Float.parseFloat(value)));
        default -> throw BadOption.of(NAME, text, ALLOWED);
      };
    } catch (NumberFormatException e) {
      throw BadOption.of(NAME, text, ALLOWED);
    } catch (IllegalArgumentException outOfRange) {
      throw BadOption.of(NAME, text, ALLOWED + ": " + outOfRange.getMessage());
    }
  }
}
