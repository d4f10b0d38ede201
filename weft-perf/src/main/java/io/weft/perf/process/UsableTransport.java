// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportProvider;
import java.util.List;

/// The check that a transport between processes works here. Stateless. Safe for use by any thread.
public final class UsableTransport {

  private static final String WITHIN_ONE_PROCESS = "inproc";

  private UsableTransport() {}

  /// Throws `PerfException.Missing` with the missing part and its remedy if `scheme` is not usable.
  public static void require(String scheme) {
    List<String> schemes =
        TransportProvider.all().stream()
            .map(TransportProvider::scheme)
            .filter(each -> !each.equals(WITHIN_ONE_PROCESS))
            .toList();
    TransportProvider provider =
        TransportProvider.find(scheme)
            .filter(found -> schemes.contains(found.scheme()))
            .orElseThrow(
                () ->
                    new PerfException.Missing(
                        "this build of Weft has no transport '%s' between processes; it has: %s"
                            .formatted(scheme, String.join(", ", schemes))));
    if (provider.probe() instanceof Availability.Unavailable missing) {
      throw new PerfException.Missing(
          "transport %s cannot be used here: %s; %s"
              .formatted(scheme, missing.reason(), missing.remedy()));
    }
  }
}
