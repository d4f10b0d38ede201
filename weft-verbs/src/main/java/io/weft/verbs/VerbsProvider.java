// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import io.weft.verbs.device.Registration;
import io.weft.verbs.device.VerbsException;
import io.weft.verbs.ffm.Ibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// The provider of RDMA between hosts with InfiniBand or RoCE, by libibverbs. Stateless and
/// thread-safe.
public final class VerbsProvider implements TransportProvider {

  static final String SCHEME = "verbs";

  private static final int PAGE_BYTES = 4096;
  private static final String REMEDY = "'weft doctor' says what RDMA needs, or use --transport tcp";

  /// Creates the provider for `ServiceLoader`.
  public VerbsProvider() {}

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public Availability probe() {
    return switch (Ibverbs.load()) {
      case Ibverbs.Loading.Missing(String reason, String remedy) ->
          new Availability.Unavailable(reason, remedy);
      case Ibverbs.Loading.Loaded(Ibverbs library) -> {
        VerbsSettings settings = VerbsSettings.ofThisProcess();
        try (Adapter adapter = Adapter.open(library, settings)) {
          registerRings(adapter, settings);
          yield new Availability.Available(List.of(adapter.capabilities(settings)));
        } catch (VerbsException | TransportException e) {
          yield new Availability.Unavailable(String.valueOf(e.getMessage()), REMEDY);
        }
      }
    };
  }

  /// Registers and releases the rings of one endpoint. If the limit of locked memory is too low,
  /// this fails as the first connection would.
  private static void registerRings(Adapter adapter, VerbsSettings settings) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rings = arena.allocate(2L * settings.ringBytes(), PAGE_BYTES);
      adapter.domain().register(rings, Registration.Access.REMOTE).close();
    }
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    return open(config, sink, VerbsSettings.of(config.settings()));
  }

  /// Opens a transport with these settings instead of those of `config`.
  static Transport open(TransportConfig config, FrameSink sink, VerbsSettings settings) {
    TransportProvider tcp =
        TransportProvider.find("tcp")
            .orElseThrow(
                () ->
                    new TransportException.DeviceLost(
                        "verbs need the TCP transport, which is not on the class path; add"
                            + " weft-transport",
                        null));
    return switch (Ibverbs.load()) {
      case Ibverbs.Loading.Missing(String reason, String remedy) ->
          throw new TransportException.DeviceLost(reason + "; " + remedy, null);
      case Ibverbs.Loading.Loaded(Ibverbs library) -> open(library, tcp, config, sink, settings);
    };
  }

  private static Transport open(
      Ibverbs library,
      TransportProvider tcp,
      TransportConfig config,
      FrameSink sink,
      VerbsSettings settings) {
    Adapter adapter;
    try {
      adapter = Adapter.open(library, settings);
    } catch (VerbsException e) {
      throw new TransportException.DeviceLost(e.getMessage() + "; " + REMEDY, e);
    }
    try {
      return new VerbsTransport(tcp, config, sink, adapter, settings);
    } catch (RuntimeException e) {
      adapter.close();
      throw e;
    }
  }
}
