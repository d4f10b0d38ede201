// SPDX-License-Identifier: Apache-2.0
package io.weft.flight;

import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.store.JobIdentity;
import io.weft.cluster.store.JobTrust;
import io.weft.config.Settings;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Where a rank's log goes when something has failed. May block; never called by a progress thread.
@FunctionalInterface
public interface FlightSink {

  /// Takes a log in place of the one before.
  void put(FlightLog log) throws IOException;

  /// What the settings name.
  static List<FlightSink> of(Settings settings) {
    return settings
        .value(FlightConfig.DIRECTORY)
        .<List<FlightSink>>map(d -> List.of(new FlightFile(d)))
        .orElse(List.of());
  }

  /// What the settings name, and for a rank that Weft's launcher started on another host (so that
  /// it is not told the launcher's process) the launcher's store.
  static List<FlightSink> of(
      Settings settings, LaunchEnvironment launch, Map<String, String> environment, Secret secret) {
    List<FlightSink> sinks = new ArrayList<>(of(settings));
    if (launch.store() instanceof StoreLocation.Hosted store
        && !environment.containsKey("WEFT_LAUNCHER_PID")) {
      sinks.add(
          new FlightPost(
              store, JobTrust.of(settings, secret, JobIdentity.ofHosted(launch, settings, store))));
    }
    return sinks;
  }
}
