// SPDX-License-Identifier: Apache-2.0
/// Weft's core: agents, the cluster, and its collectives, rendezvous and request channels.
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // modules that are named in exports are compiled later
module io.weft.comm {
  requires static transitive org.jspecify;
  requires transitive io.weft.tensor;
  requires transitive io.weft.transport;
  requires org.jctools.core;
  requires org.slf4j;

  exports io.weft;
  exports io.weft.agent;
  exports io.weft.cluster;
  exports io.weft.cluster.channel;
  exports io.weft.cluster.elastic;
  exports io.weft.cluster.store;
  exports io.weft.collective;
  exports io.weft.collective.choice;
  exports io.weft.comm;
  exports io.weft.gradient;
  exports io.weft.observer;
  exports io.weft.rendezvous;
  exports io.weft.file to
      io.weft.dataparallel,
      io.weft.kv,
      io.weft.spark,
      io.weft.telemetry,
      io.weft.tensorflow;
  exports io.weft.memory to
      io.weft.dataparallel,
      io.weft.kv;
  exports io.weft.natives to
      io.weft.tensorflow;

  uses io.weft.InstrumentProvider;
  uses io.weft.natives.NativeLibraries;
  uses io.weft.transport.spi.TransportProvider;

  provides io.weft.config.OptionProvider with
      io.weft.ThreadsConfig,
      io.weft.agent.AgentConfig,
      io.weft.cluster.JobConfig,
      io.weft.cluster.elastic.ElasticConfig,
      io.weft.cluster.watch.LivenessConfig,
      io.weft.collective.CollectiveConfig,
      io.weft.rendezvous.RendezvousConfig;
}
