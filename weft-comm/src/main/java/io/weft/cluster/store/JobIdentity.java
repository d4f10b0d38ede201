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

/// What makes a job one, as text that all its ranks work out alike and no other job that runs does:
/// the name that the user gave, the launcher's own name of the job, and where neither tells it from
/// others, the process that started the ranks or the address at which they meet. For people, too.
/// Pure but for `ofSiblings`.
public final class JobIdentity {

  /// Longest identity, in UTF-8 bytes; a longer one ends in a digest of all of it.
  static final int MAX_BYTES = 512;

  private static final int KEPT_CHARACTERS = 100;
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "::1");

  private JobIdentity() {}

  /// Of a job whose launcher keeps the store: its name, of which the launcher takes care.
  public static String ofName(String name) {
    return bounded(name);
  }

  /// What ranks prove to each other besides the secret: that they are of the job of this name, and
  /// have met in this store and no other one.
  public static String met(String job, Store store) {
    Objects.requireNonNull(job, "job");
    return store.meeting().isEmpty() ? job : job + ", meeting " + store.meeting();
  }

  /// Of a job of which this rank knows where its launcher keeps the store: the same.
  public static String ofHosted(
      LaunchEnvironment launch, Settings settings, StoreLocation.Hosted at) {
    return bounded(
        settings
            .value(JobConfig.JOB)
            .or(launch::job)
            .orElse(TcpStore.location(at.host(), at.port())));
  }

  /// Of a job that its launcher's name, or the user's, tells from all others of this host.
  static String ofNamed(LaunchEnvironment launch, Settings settings) {
    return bounded(String.join(" ", names(launch, settings)));
  }

  /// Of a job whose ranks this process's parent has started.
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

  /// Of a job whose ranks meet at an address: the port counts, and where nothing else names the job
  /// the host's name, which ranks may write in several ways.
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
