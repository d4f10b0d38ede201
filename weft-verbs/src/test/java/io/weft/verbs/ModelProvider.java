// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;

/// The transport by one of its models, whatever the settings of the job say.
record ModelProvider(int model) implements TransportProvider {

  @Override
  public String scheme() {
    return VerbsProvider.SCHEME;
  }

  @Override
  public Availability probe() {
    return new VerbsProvider().probe();
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    return VerbsProvider.open(
        config, sink, VerbsSettings.of(config.settings().with(VerbsConfig.MODEL, model)));
  }
}
