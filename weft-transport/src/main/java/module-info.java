// SPDX-License-Identifier: Apache-2.0
/// Moves bytes between processes: the transport seam, and the in-process and TCP transports.
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // io.weft.comm, io.weft.shm and io.weft.verbs are compiled later
module io.weft.transport {
  requires static transitive org.jspecify;

  exports io.weft.config;
  exports io.weft.text;
  exports io.weft.transport;
  exports io.weft.transport.spi;
  exports io.weft.transport.limit;
  exports io.weft.transport.pool;
  // The job's store, which is no transport, encrypts in the same way.
  exports io.weft.transport.tls to
      io.weft.comm;
  // Shared memory and verbs carry on where TCP has proved the peer, with the same regions.
  exports io.weft.transport.region to
      io.weft.shm,
      io.weft.verbs;
  exports io.weft.transport.ring to
      io.weft.shm,
      io.weft.verbs;

  uses io.weft.config.OptionProvider;
  uses io.weft.transport.spi.TransportProvider;

  provides io.weft.transport.spi.TransportProvider with
      io.weft.transport.inproc.InprocProvider,
      io.weft.transport.tcp.TcpProvider;
}
