// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spill;

import io.weft.config.PresentProviders;
import java.util.Optional;
import java.util.ServiceLoader;

/// A kind of store, named in a provider file of `ServiceLoader`. Stateless.
public interface RowStoreProvider {

  /// The artifact that has one.
  String ARTIFACT = "io.weft:weft-kv-rocksdb";

  /// The first that is there. Throws `ServiceConfigurationError` where a provider file cannot be
  /// read, or names a class that is no provider.
  static Optional<RowStoreProvider> find() {
    return PresentProviders.of(ServiceLoader.load(RowStoreProvider.class)).stream().findFirst();
  }

  /// Stores for one server. Throws `RowStoreException` where the machine cannot run them.
  ///
  /// @param cacheBytes about as much memory as all of them take together
  RowStores stores(long cacheBytes);
}
