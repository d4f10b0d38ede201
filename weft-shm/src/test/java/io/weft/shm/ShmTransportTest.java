// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.testkit.transport.TransportContract;
import io.weft.transport.spi.TransportProvider;

class ShmTransportTest extends TransportContract {

  @Override
  protected TransportProvider provider() {
    return new ShmProvider();
  }

  @Override
  protected String bind() {
    return "127.0.0.1";
  }
}
