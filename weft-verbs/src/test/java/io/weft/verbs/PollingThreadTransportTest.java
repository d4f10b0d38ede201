// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.spi.TransportProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/// Runs the contract with one send buffer for all peers and a thread that polls (model 2). Like
/// [SharedBufferTransportTest], it runs only with `-Dweft.test.models=all`.
@Tag("rdma")
@EnabledIfSystemProperty(named = "weft.test.models", matches = "all")
@Timeout(600)
class PollingThreadTransportTest extends VerbsTransportTest {

  @Override
  protected TransportProvider provider() {
    return new ModelProvider(2);
  }

  @Override
  protected int operations() {
    return 100;
  }
}
