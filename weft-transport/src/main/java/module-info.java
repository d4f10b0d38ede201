// SPDX-License-Identifier: Apache-2.0
/// The transport API that moves bytes between processes, and the in-process and TCP transports.
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the modules that use it are compiled later
module io.weft.transport {
  requires static transitive org.jspecify;

  exports io.weft.config;
  exports io.weft.transport;
  exports io.weft.transport.spi;
  exports io.weft.text to
      io.weft.comm,
      io.weft.dataparallel,
      io.weft.kv,
      io.weft.telemetry;
  exports io.weft.transport.limit to
      io.weft.comm,
      io.weft.dataparallel,
      io.weft.kv,
      io.weft.shm,
      io.weft.spark,
      io.weft.telemetry,
      io.weft.tensorflow,
      io.weft.tensorflow.distributed,
      io.weft.verbs;
  exports io.weft.transport.pool to
      io.weft.comm,
      io.weft.shm,
      io.weft.verbs;
  // The job's store is not a transport, but it uses the same encryption.
  exports io.weft.transport.tls to
      io.weft.comm;
  // Shared memory and verbs take over connections that TCP has authenticated, with the same
  // regions.
  exports io.weft.transport.region to
      io.weft.shm,
      io.weft.verbs;
  exports io.weft.transport.ring to
      io.weft.shm,
      io.weft.verbs;
  exports io.weft.transport.table to
      io.weft.comm,
      io.weft.shm,
      io.weft.telemetry,
      io.weft.verbs;

  uses io.weft.config.OptionProvider;
  uses io.weft.transport.spi.TransportProvider;

  provides io.weft.config.OptionProvider with
      io.weft.transport.tcp.TcpConfig;
  provides io.weft.transport.spi.TransportProvider with
      io.weft.transport.inproc.InprocProvider,
      io.weft.transport.tcp.TcpProvider;
}
