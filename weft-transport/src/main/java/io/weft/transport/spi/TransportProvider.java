// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;

/// A kind of transport, found by `ServiceLoader`. Stateless.
public interface TransportProvider {

  /// The name users say: "inproc", "tcp", "shm", "verbs".
  String scheme();

  /// What is there, or why not. Never throws.
  Availability probe();

  /// Opens a device and starts listening. Throws `TransportException.DeviceLost` with the address
  /// and what to do when that cannot be done (address in use, not an address of this host).
  Transport open(TransportConfig config, FrameSink sink);
}
