// SPDX-License-Identifier: Apache-2.0
/// RDMA through libibverbs without C code: devices, registered memory, queue pairs, and a transport
/// based on them with the scheme `verbs`. It requires native access.
@org.jspecify.annotations.NullMarked
module io.weft.verbs {
  requires static transitive org.jspecify;
  requires transitive io.weft.transport;

  exports io.weft.verbs;
  exports io.weft.verbs.device;
  exports io.weft.verbs.ffm;

  uses io.weft.transport.spi.TransportProvider;

  provides io.weft.config.OptionProvider with
      io.weft.verbs.VerbsConfig;
  provides io.weft.transport.spi.TransportProvider with
      io.weft.verbs.VerbsProvider;
}
