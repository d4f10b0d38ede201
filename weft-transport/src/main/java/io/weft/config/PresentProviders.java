// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/// The providers of a service whose jars are present. On a class path, each of Weft's jars that
/// contains a provider has the same provider file, which names all providers. A jar merged from
/// several jars therefore names all of their providers, whichever file it retains. A name without a
/// class denotes a provider whose jar is absent. Stateless and thread-safe.
public final class PresentProviders {

  private static final String NO_CLASS = " not found";

  private PresentProviders() {}

  /// Returns the present providers. Throws `ServiceConfigurationError` if a provider file cannot be
  /// read, or names a class that is not a provider.
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
