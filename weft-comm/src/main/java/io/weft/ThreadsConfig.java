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
                  "names of services, each at most once; channel once per thread",
                  ServiceThreads::parse),
              "collectives+rendezvous+channel",
              "assignment of the services to progress threads with separate connections: + joins"
                  + " services of one thread, commas separate threads; several threads may run the"
                  + " channel; it must be equal on all ranks")
          .sameOn(Scope.JOB);

  /// For `ServiceLoader`.
  public ThreadsConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(PROGRESS_THREADS);
  }
}
