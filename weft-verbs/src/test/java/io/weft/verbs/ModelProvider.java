// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;

/// The verbs transport with the threading model `model`, whatever the settings of the job are.
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
