// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.comm.CommException;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.training.Sync;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServedToolTest {

  /// A job has 2 servers, ranks 0 and 1, and 3 workers.
  @ParameterizedTest
  @CsvSource({
    "gradients, 0, WEFT, 3, 4, true",
    "gradients, 1, WEFT, 3, 4, true",
    "gradients, 1, GRPC, 3, 4, true",
    "gradients, 2, WEFT, 0, 4, true",
    "async, 0, WEFT, 3, 4, false",
    "async, 0, WEFT, 0, 4, false",
    "async, 0, WEFT, 3, 1, true",
    "async, 0, PS, 3, 4, true"
  })
  void aRankEndsAfterTheLossOfARankThatItNeeds(
      String sync, int backup, Servers.Via via, int rank, int lost, boolean ends) {
    var servers = new Servers(via, 3, 2, backup);
    var cause = new CommException.PeerLost("rank " + lost + " is lost", lost, null);
    assertThat(
            ServedTool.isNeeded(
                cause,
                sync.equals("async") ? new Sync.Asynchronous() : new Sync.Gradients(),
                servers,
                rank))
        .isEqualTo(ends);
  }
}
