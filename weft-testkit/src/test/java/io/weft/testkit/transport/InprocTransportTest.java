// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.inproc.InprocProvider;
import io.weft.transport.spi.TransportProvider;

class InprocTransportTest extends TransportContract {

  @Override
  protected TransportProvider provider() {
    return new InprocProvider();
  }

  @Override
  protected String bind() {
    return "contract";
  }
}
