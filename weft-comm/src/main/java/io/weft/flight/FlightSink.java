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

/// The destination of a rank's log after a failure. May block; never called by a progress thread.
@FunctionalInterface
public interface FlightSink {

  /// Takes a log, which replaces the previous one.
  void put(FlightLog log) throws IOException;

  /// Returns the sinks that the settings name.
  static List<FlightSink> of(Settings settings) {
    return settings
        .value(FlightConfig.DIRECTORY)
        .<List<FlightSink>>map(d -> List.of(new FlightFile(d)))
        .orElse(List.of());
  }

  /// Returns the sinks that the settings name, and the launcher's store for a rank that Weft's
  /// launcher started on another host. Such a rank has no variable with the launcher's process.
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
