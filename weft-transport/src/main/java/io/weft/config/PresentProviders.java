// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/// The providers of a service that are there. On a class path each jar with a provider of Weft's
/// has the same provider file, which names all of them: so a jar that is made of several loses
/// none, whichever of the files it keeps, and a name without its class is a provider whose jar is
/// not there. Stateless; any thread.
public final class PresentProviders {

  private static final String NO_CLASS = " not found";

  private PresentProviders() {}

  /// All of them. Throws `ServiceConfigurationError` where a provider file cannot be read, or names
  /// a class that is no provider.
  public static <S> List<S> of(ServiceLoader<S> service) {
    List<S> found = new ArrayList<>();
    Iterator<S> providers = service.iterator();
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
