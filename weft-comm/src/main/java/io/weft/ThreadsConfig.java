// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.config.ConfigOption;
import io.weft.config.ConfigOption.Scope;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.util.List;

/// The settings that assign a rank's services to progress threads. Stateless; any thread.
public final class ThreadsConfig implements OptionProvider {

  /// The services of each progress thread.
  public static final ConfigOption<ServiceThreads> PROGRESS_THREADS =
      ConfigOption.of(
              "progress-threads",
              OptionType.of(
                  ServiceThreads.class,
                  "NAMES",
                  "names of services, each at most once",
                  ServiceThreads::parse),
              "collectives+rendezvous+channel",
              "which services run on a progress thread of their own, with connections of their own:"
                  + " joined by + on one thread, separated by commas on several; the same on all"
                  + " ranks")
          .sameOn(Scope.JOB);

  /// For `ServiceLoader`.
  public ThreadsConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(PROGRESS_THREADS);
  }
}
