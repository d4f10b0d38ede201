// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import io.weft.SettingsFileTarget;
import io.weft.cluster.EnvironmentTarget;
import io.weft.cluster.HostAndPortTarget;
import io.weft.cluster.MeshFrameTarget;
import io.weft.cluster.RankEntryTarget;
import io.weft.cluster.SlurmHostsTarget;
import io.weft.cluster.elastic.StatementTarget;
import io.weft.cluster.store.PemFileTarget;
import io.weft.cluster.store.SecretFileTarget;
import io.weft.cluster.store.StoreClientTarget;
import io.weft.cluster.store.StoreSessionTarget;
import io.weft.collective.plan.AlgorithmsFileTarget;
import io.weft.collective.service.CollectivesTarget;
import io.weft.collective.service.RendezvousTarget;
import io.weft.dataparallel.frame.ReportTarget;
import io.weft.kv.frame.KvFramesTarget;
import io.weft.shm.GreetingTarget;
import io.weft.telemetry.flight.FlightFileTarget;
import io.weft.telemetry.timeline.TimelineFileTarget;
import io.weft.transport.secure.HandshakeTarget;
import io.weft.transport.tcp.AddressTarget;
import io.weft.transport.tcp.InboundTarget;
import io.weft.transport.tls.TlsPipeTarget;
import io.weft.verbs.VerbsGreetingTarget;
import io.weft.verbs.ring.VerbsFramesTarget;
import java.util.List;

/// Runs the decoders of the transports, the cluster and the collectives.
class DecodersFuzzTest extends FuzzContract {

  DecodersFuzzTest() {
    super(
        List.of(
            CollectivesTarget.class,
            RendezvousTarget.class,
            HandshakeTarget.class,
            GreetingTarget.class,
            InboundTarget.class,
            VerbsGreetingTarget.class,
            VerbsFramesTarget.class,
            StoreSessionTarget.class,
            RankEntryTarget.class,
            AddressTarget.class,
            TlsPipeTarget.class,
            StoreClientTarget.class,
            PemFileTarget.class,
            HostAndPortTarget.class,
            MeshFrameTarget.class,
            StatementTarget.class,
            FlightFileTarget.class,
            TimelineFileTarget.class,
            ReportTarget.class,
            KvFramesTarget.class,
            EnvironmentTarget.class,
            SlurmHostsTarget.class,
            SecretFileTarget.class,
            SettingsFileTarget.class,
            AlgorithmsFileTarget.class));
  }
}
