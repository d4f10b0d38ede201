// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.rendezvous;

import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;

/// Runs the tests of the rendezvous on an RDMA device.
@Tag("rdma")
@Timeout(400)
class VerbsRendezvousTest extends RendezvousTest {

  static Stream<Arguments> ways() {
    return Stream.of("read", "write").map(protocol -> Arguments.of("verbs", protocol));
  }
}
