// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spill;

import io.weft.config.PresentProviders;
import java.util.Optional;
import java.util.ServiceLoader;

/// A provider of stores, named in a provider file of `ServiceLoader`. Stateless.
public interface RowStoreProvider {

  /// The artifact that contains a provider.
  String ARTIFACT = "io.weft:weft-kv-rocksdb";

  /// Returns the first available provider. Throws `ServiceConfigurationError` if a provider file
  /// cannot be read, or names a class that is not a provider.
  static Optional<RowStoreProvider> find() {
    return PresentProviders.of(ServiceLoader.load(RowStoreProvider.class)).stream().findFirst();
  }

  /// Returns the stores of one server. Throws `RowStoreException` if the machine does not support
  /// them.
  ///
  /// @param cacheBytes the approximate memory of all stores together
  RowStores stores(long cacheBytes);
}
