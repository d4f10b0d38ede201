// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.JobConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.Store;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.watch.ProcessIdentity;
import io.weft.config.Settings;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/// The text that identifies a job. All its ranks compute the same text, and no other running job
/// has it. It consists of the name that the user gave and the launcher's name of the job. If these
/// do not distinguish the job, it includes the process that started the ranks, or the address at
/// which the ranks meet. It is also shown to users. Pure except for `ofSiblings`.
public final class JobIdentity {

  /// Maximum length of an identity, in UTF-8 bytes. A longer text is replaced by its first
  /// characters and a digest.
  static final int MAX_BYTES = 512;

  private static final int KEPT_CHARACTERS = 100;
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "::1");

  private JobIdentity() {}

  /// Returns the identity of a job whose launcher serves the store: its name, which the launcher
  /// keeps unique.
  public static String ofName(String name) {
    return bounded(name);
  }

  /// Returns the identity that ranks prove to each other in addition to the secret: `job`, and the
  /// store's `meeting` if it is not empty.
  public static String met(String job, Store store) {
    Objects.requireNonNull(job, "job");
    return store.meeting().isEmpty() ? job : job + ", meeting " + store.meeting();
  }

  /// Returns the identity of a job whose launcher serves the store, on a rank that knows the
  /// store's address: the user's name of the job, otherwise the launcher's, otherwise the address.
  public static String ofHosted(
      LaunchEnvironment launch, Settings settings, StoreLocation.Hosted at) {
    return bounded(
        settings
            .value(JobConfig.JOB)
            .or(launch::job)
            .orElse(TcpStore.location(at.host(), at.port())));
  }

  /// Returns the identity of a job that the launcher's or the user's name distinguishes from all
  /// others of this host.
  static String ofNamed(LaunchEnvironment launch, Settings settings) {
    return bounded(String.join(" ", names(launch, settings)));
  }

  /// Returns the identity of a job whose ranks this process's parent has started.
  static String ofSiblings(LaunchEnvironment launch, Settings settings) {
    Set<String> parts = names(launch, settings);
    ProcessHandle.current()
        .parent()
        .ifPresent(
            parent ->
                parts.add(
                    "started by process "
                        + parent.pid()
                        + "@"
                        + ProcessIdentity.startOnThisHost(parent)));
    return bounded(String.join(" ", parts));
  }

  /// Returns the identity of a job whose ranks meet at an address. The identity includes the port;
  /// it includes the host's name only if the job has no other name, because ranks may write the
  /// host in several ways.
  static String ofAddress(LaunchEnvironment launch, Settings settings, String host, int port) {
    Set<String> parts = names(launch, settings);
    String name = host.toLowerCase(Locale.ROOT);
    parts.add(
        parts.isEmpty()
            ? "at " + (LOOPBACK.contains(name) ? "localhost" : name) + ":" + port
            : "at port " + port);
    return bounded(String.join(" ", parts));
  }

  private static Set<String> names(LaunchEnvironment launch, Settings settings) {
    var names = new LinkedHashSet<String>();
    settings.value(JobConfig.JOB).ifPresent(names::add);
    launch.job().ifPresent(names::add);
    return names;
  }

  private static String bounded(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= MAX_BYTES) {
      return text;
    }
    return text.substring(0, KEPT_CHARACTERS) + "... " + UUID.nameUUIDFromBytes(bytes);
  }
}
