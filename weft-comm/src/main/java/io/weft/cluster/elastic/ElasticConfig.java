// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import io.weft.config.ConfigOption;
import io.weft.config.ConfigOption.Scope;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.util.List;

/// The settings of a job that may lose ranks. Stateless; any thread.
public final class ElasticConfig implements OptionProvider {

  /// Reaction of the other ranks to the loss of a rank.
  public static final ConfigOption<OnFailure> ON_FAILURE =
      ConfigOption.of(
          "on-failure",
          OptionType.choice(OnFailure.class),
          "end",
          "when a rank is lost: end the job, or shrink it to the remaining ranks");

  /// Share of the ranks that must remain after a loss for them to continue without the others.
  public static final ConfigOption<ShrinkQuorum> SHRINK_QUORUM =
      ConfigOption.of(
              "shrink-quorum",
              OptionType.choice(ShrinkQuorum.class),
              "majority",
              "ranks that must remain to continue without the others: majority (or half of them"
                  + " with the lowest rank), or any, if a loss is certain to be a crash")
          .sameOn(Scope.JOB);

  /// For `ServiceLoader`.
  public ElasticConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(ON_FAILURE, SHRINK_QUORUM);
  }
}
