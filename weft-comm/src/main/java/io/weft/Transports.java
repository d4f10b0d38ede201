// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.cluster.NodeEnvironment;
import io.weft.cluster.store.JobTrust;
import io.weft.comm.CommException;
import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.limit.OpenFiles;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The choice of a job's transport among those on the class path.
final class Transports {

  private static final Logger LOG = LoggerFactory.getLogger(Transports.class);
  private static final String AUTO = "auto";
  private static final String TCP = "tcp";
  private static final String SHARED_MEMORY = "shm";

  /// The transports with a separate jar.
  private static final Set<String> SEPARATE = Set.of(SHARED_MEMORY, "verbs");

  private Transports() {}

  /// Returns the requested transport, or with `auto` the one that fits best. Throws
  /// `CommException.Setup` with a remedy if it is absent or cannot be used.
  static TransportProvider provider(String wanted, int size) {
    List<TransportProvider> all = providers();
    String scheme = wanted.equals(AUTO) ? fitting(all, size) : wanted;
    TransportProvider provider =
        all.stream()
            .filter(p -> p.scheme().equals(scheme))
            .findFirst()
            .orElseThrow(
                () ->
                    new CommException.Setup(
                        "no transport '"
                            + scheme
                            + "' on the class path; there are "
                            + all.stream().map(TransportProvider::scheme).sorted().toList()
                            + (SEPARATE.contains(scheme) ? "; " + remedy(scheme) : ""),
                        null));
    if (provider.probe() instanceof Availability.Unavailable(String reason, String remedy)) {
      throw new CommException.Setup(
          "transport " + scheme + " cannot be used here: " + reason + "; " + remedy, null);
    }
    return provider;
  }

  /// Shared memory also fits a job over several hosts, because it uses TCP between hosts.
  private static String fitting(List<TransportProvider> all, int size) {
    if (size == 1) {
      return "inproc";
    }
    return all.stream()
            .filter(p -> p.scheme().equals(SHARED_MEMORY))
            .anyMatch(p -> p.probe() instanceof Availability.Available)
        ? SHARED_MEMORY
        : TCP;
  }

  /// Opens the transport of this rank. Throws `CommException.Setup` if it cannot be opened.
  ///
  /// @param credentials this rank's proof of identity for peers
  static Transport open(
      WeftConfig config, NodeEnvironment around, Credentials credentials, FrameSink sink) {
    TransportProvider provider = around.transport();
    try {
      return provider.open(
          new TransportConfig(
              around.bind(),
              config.startDeadline(),
              credentials,
              JobTrust.encryption(config),
              config),
          sink);
    } catch (TransportException e) {
      throw new CommException.Setup(
          "rank "
              + credentials.node()
              + " cannot open transport "
              + provider.scheme()
              + ": "
              + e.getMessage(),
          e);
    }
  }

  /// Logs, once on each host, why ranks that could share memory use TCP although no setting
  /// requested it.
  static void tellOfTcp(Weft joined) {
    boolean chosen = joined.config().transport().equals(AUTO) && joined.transport().equals(TCP);
    if (chosen && joined.localSize() > 1 && joined.localRank() == 0) {
      Optional<TransportProvider> shm = TransportProvider.find(SHARED_MEMORY);
      String why = shm.isEmpty() ? "weft-shm is not on the class path" : "";
      String what = remedy(SHARED_MEMORY);
      if (shm.isPresent()
          && shm.get().probe() instanceof Availability.Unavailable(String reason, String remedy)) {
        why = reason;
        what = remedy;
      }
      LOG.warn(
          "the {} ranks of this host communicate over TCP, not through shared memory: {}; {}",
          joined.localSize(),
          why,
          what);
    }
  }

  private static String remedy(String scheme) {
    return "add the artifact io.weft:weft-" + scheme + ", or io.weft:weft-starter, which brings it";
  }

  private static List<TransportProvider> providers() {
    return found("transports", TransportProvider::all);
  }

  /// Returns the providers that `look` finds on the class path. Throws `CommException.Setup` if a
  /// provider file cannot be read.
  ///
  /// @param what the kind of the providers in words, for the message
  static <T> List<T> found(String what, Supplier<List<T>> look) {
    OpenFiles openFiles = OpenFiles.ofThisProcess();
    try {
      return look.get();
    } catch (ServiceConfigurationError unreadable) {
      String advice =
          unreadable.getCause() instanceof IOException cause ? openFiles.advice(cause) : "";
      throw new CommException.Setup(
          "cannot look for %s on the class path: %s%s"
              .formatted(what, unreadable.getMessage(), advice),
          unreadable);
    }
  }
}
