// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.transport.limit.OpenFiles;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportProvider;
import java.io.IOException;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/// Which of the transports on the class path a job uses.
final class Transports {

  private Transports() {}

  /// The one that is wanted, or with `auto` the one that fits best. Throws `CommException.Setup`
  /// with what to do where it is not there or cannot be used.
  static TransportProvider provider(String wanted, int size) {
    List<TransportProvider> all = providers();
    String scheme = wanted.equals("auto") ? fitting(all, size) : wanted;
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
                            + all.stream().map(TransportProvider::scheme).sorted().toList(),
                        null));
    if (provider.probe() instanceof Availability.Unavailable(String reason, String remedy)) {
      throw new CommException.Setup(
          "transport " + scheme + " cannot be used here: " + reason + "; " + remedy, null);
    }
    return provider;
  }

  /// Shared memory also fits a job over several hosts: between hosts it is TCP.
  private static String fitting(List<TransportProvider> all, int size) {
    if (size == 1) {
      return "inproc";
    }
    return all.stream()
            .filter(p -> p.scheme().equals("shm"))
            .anyMatch(p -> p.probe() instanceof Availability.Available)
        ? "shm"
        : "tcp";
  }

  private static List<TransportProvider> providers() {
    OpenFiles openFiles = OpenFiles.ofThisProcess();
    try {
      return ServiceLoader.load(TransportProvider.class).stream()
          .map(ServiceLoader.Provider::get)
          .toList();
    } catch (ServiceConfigurationError unreadable) {
      String advice =
          unreadable.getCause() instanceof IOException cause ? openFiles.advice(cause) : "";
      throw new CommException.Setup(
          "cannot look for transports on the class path: " + unreadable.getMessage() + advice,
          unreadable);
    }
  }
}
