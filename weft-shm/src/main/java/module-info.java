// SPDX-License-Identifier: Apache-2.0
/// The transport between processes of one host through shared memory, with the scheme `shm`. It
/// requires native access.
@org.jspecify.annotations.NullMarked
module io.weft.shm {
  requires static transitive org.jspecify;
  requires transitive io.weft.transport;

  exports io.weft.shm;

  uses io.weft.transport.spi.TransportProvider;

  provides io.weft.transport.spi.TransportProvider with
      io.weft.shm.ShmProvider;
}
