// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.testkit.transport.TransportContract;
import io.weft.transport.spi.TransportProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/// Runs the contract on the kernel's software RDMA on an emulated processor, hence the long waits.
@Tag("rdma")
@Timeout(600)
class VerbsTransportTest extends TransportContract {

  @Override
  protected TransportProvider provider() {
    return new VerbsProvider();
  }

  @Override
  protected String bind() {
    return "127.0.0.1";
  }

  @Override
  protected int waitFactor() {
    return 6;
  }

  @Override
  protected int operations() {
    return 300;
  }
}
