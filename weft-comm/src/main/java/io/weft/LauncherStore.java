// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.store.JobIdentity;
import io.weft.cluster.store.JobTrust;
import io.weft.transport.spi.Secret;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/// The store of Weft's launcher on another host, to which a rank sends the files that the launcher
/// cannot read.
///
/// @param location the address of the store
/// @param trust the authentication of the rank at the store
public record LauncherStore(StoreLocation.Hosted location, JobTrust trust) {

  /// The name of Weft's launcher in `LaunchEnvironment.launcher`.
  private static final String WEFT = "weft";

  /// Throws `NullPointerException` if a component is null.
  public LauncherStore {
    Objects.requireNonNull(location, "location");
    Objects.requireNonNull(trust, "trust");
  }

  /// Returns the store for a rank that Weft's launcher started on another host. Such a rank has no
  /// variable with the launcher's process.
  static Optional<LauncherStore> of(
      WeftConfig config, LaunchEnvironment launch, Map<String, String> environment, Secret secret) {
    return launch.store() instanceof StoreLocation.Hosted store
            && launch.launcher().equals(WEFT)
            && !environment.containsKey("WEFT_LAUNCHER_PID")
        ? Optional.of(
            new LauncherStore(
                store, JobTrust.of(config, secret, JobIdentity.ofHosted(launch, config, store))))
        : Optional.empty();
  }
}
