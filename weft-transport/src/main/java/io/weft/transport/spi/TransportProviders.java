// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/// The transports that are there. On a class path each jar with a transport of Weft's has the same
/// provider file, which names all of them: so a jar that is made of several loses none, whichever
/// of the files it keeps, and a name without its class is a transport whose jar is not there.
final class TransportProviders {

  private static final String NO_CLASS = " not found";

  private TransportProviders() {}

  static List<TransportProvider> all() {
    List<TransportProvider> found = new ArrayList<>();
    Iterator<TransportProvider> providers = ServiceLoader.load(TransportProvider.class).iterator();
    while (providers.hasNext()) {
      try {
        found.add(providers.next());
      } catch (ServiceConfigurationError unusable) {
        if (!isAbsent(unusable)) {
          throw unusable;
        }
      }
    }
    return found;
  }

  private static boolean isAbsent(ServiceConfigurationError unusable) {
    return unusable.getCause() == null && String.valueOf(unusable.getMessage()).endsWith(NO_CLASS);
  }
}
