// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.spi.TransportProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/// Runs the contract with one send buffer for all peers (model 1). [RandomOperationsTest] covers
/// all models in each build; this test is for changes of the models and runs only with
/// `-Dweft.test.models=all`.
@Tag("rdma")
@EnabledIfSystemProperty(named = "weft.test.models", matches = "all")
@Timeout(600)
class SharedBufferTransportTest extends VerbsTransportTest {

  @Override
  protected TransportProvider provider() {
    return new ModelProvider(1);
  }

  @Override
  protected int operations() {
    return 100;
  }
}
