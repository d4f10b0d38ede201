// SPDX-License-Identifier: Apache-2.0
/// RDMA through libibverbs, without code in C: devices, registered memory, queue pairs, and a
/// transport of them, found by its scheme `verbs`. Needs native access.
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
