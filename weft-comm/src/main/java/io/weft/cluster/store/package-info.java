// SPDX-License-Identifier: Apache-2.0
/// The job's store (in memory, in a private directory, or over TCP) and the job's secret. User
/// threads; the server runs a thread for each connection.
///
/// ```java
/// try (Store store = new InMemoryStore()) {
///   store.put("address", new byte[] {127, 0, 0, 1});
///   byte[] address = store.get("address", Duration.ofSeconds(5)); // waits until the key is there
///   boolean first = store.putIfAbsent("address", address); // false
/// }
/// ```
@NullMarked
package io.weft.cluster.store;

import org.jspecify.annotations.NullMarked;
